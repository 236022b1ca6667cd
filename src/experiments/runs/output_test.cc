#include "experiments/runs/output.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(Output, IsATableUnlessJsonOrCsvIsWanted) {
  EXPECT_EQ(format_of(false, false).value(), Format::Table);
  EXPECT_EQ(format_of(true, false).value(), Format::Json);
  EXPECT_EQ(format_of(false, true).value(), Format::Csv);
  EXPECT_EQ(format_of(true, true).error().code, Code::InvalidArgument);
}

TEST(Output, InterruptedRunsAreAnErrorAfterTheyAreShown) {
  RunsResult result;
  result.runs.resize(1);
  testing::internal::CaptureStdout();
  const Status whole = show_runs(result, {.format = Format::Csv});
  result.interrupted = true;
  const Status part = show_runs(result, {.format = Format::Csv});
  const std::string shown = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(whole.ok());
  ASSERT_FALSE(part.ok());
  EXPECT_EQ(part.error().code, Code::Cancelled);
  EXPECT_EQ(shown.substr(0, shown.size() / 2), shown.substr(shown.size() / 2));
}

TEST(Output, WarningsAreLeftOutIfQuiet) {
  RunsResult result;
  result.runs.resize(1);
  result.runs[0].summary.warnings = {"half of it is missing"};
  const auto warnings = [&](bool quiet) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_TRUE(show_runs(result, {.format = Format::Csv, .quiet = quiet}).ok());
    testing::internal::GetCapturedStdout();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(warnings(false).find("half of it is missing"), std::string::npos);
  EXPECT_EQ(warnings(true), "");
}

}  // namespace
}  // namespace orrery
