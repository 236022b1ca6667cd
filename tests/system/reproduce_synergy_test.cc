#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "system/process.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

const std::filesystem::path kData = std::filesystem::path(ORRERY_SHARED) / "data" / "synergy";

class ReproduceSynergy : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kData)) GTEST_SKIP() << "the published traces are not here";
  }
};

Finished reproduce(std::vector<std::string> more, const std::filesystem::path& data = kData) {
  more.insert(more.begin(), {"reproduce", "synergy", "--data", data.string(), "--quiet"});
  return run_orrery(more);
}

TEST_F(ReproduceSynergy, TheReplaysAgreeWithTheReleasedCodeToTheirPrintedDigits) {
  for (const char* figure : {"static", "dynamic"}) {
    const Finished run = reproduce({"--figure", figure, "--semantics", "synergy", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    int compared = 0;
    const Json answer = Json::parse(run.out);
    for (const Json& row : answer["rows"]) {
      const std::string policy = row["policy"];
      if (policy.ends_with("+opt") || row["reference"].is_null()) continue;
      EXPECT_EQ(row["difference_pct"], 0.0) << row;
      EXPECT_TRUE(row["ours_by_our_rules"].is_null());
      ++compared;
    }
    EXPECT_EQ(compared, 36) << "six orders, three allocators, two figures";
    ASSERT_FALSE(answer["claims"].empty());
    EXPECT_EQ(answer["claims"][0]["ours"].is_number(), true);
  }
}

TEST_F(ReproduceSynergy, TextNamesBothWorldsWithin80Columns) {
  const Finished run = reproduce({"--figure", "12"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("drf+greedy"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("our rules"), std::string::npos) << run.out;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(ReproduceSynergy, TheReportShowsUseOverTime) {
  const TestFolder folder;
  const std::string page = folder.file("report.html");
  const Finished run = reproduce({"--figure", "use", "--report", page});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string text = file_text(page);
  for (const char* part :
       {"<h2>Use: CPUs held, per cent</h2>",
        "<h2>Over time: memory held, per cent, synergy rules</h2>",
        "<h2>Over time: CPUs held, per cent, orrery rules</h2>", "\"policy\":\"fifo+greedy\""}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST_F(ReproduceSynergy, WithoutAReferenceThereIsNothingToBeOffBy) {
  const TestFolder folder;
  for (const char* name : {"static_100job_6_3_1100.0", "static_trace.ini"}) {
    std::filesystem::copy_file(kData / name, folder / name);
  }
  const Finished run =
      reproduce({"--figure", "static", "--semantics", "synergy", "--json"}, folder.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const Json& row : Json::parse(run.out)["rows"]) EXPECT_TRUE(row["difference_pct"].is_null());
  const Finished missing = reproduce({"--figure", "dynamic"}, folder.path());
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("dynamic/srtf.log is not there"), std::string::npos) << missing.err;
}

TEST(ReproduceSynergyArguments, UnknownValuesAreRefused) {
  const TestFolder folder;
  const auto complaint = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"reproduce", "synergy", "--data", folder.path()});
    const Finished run = run_orrery(more);
    EXPECT_EQ(run.exit_code, 2);
    return run.err;
  };
  EXPECT_NE(complaint({"--figure", "13"}).find("static, dynamic, use, 7, 8, 9, ratios, 12"),
            std::string::npos);
  EXPECT_NE(complaint({"--semantics", "muri"}).find("here there are synergy and orrery"),
            std::string::npos);
  EXPECT_NE(complaint({"--reference", "nowhere.csv"}).find("there is no such file"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
