#include "training/trainer/head/failure_reports.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

Time at(int second) { return Time(std::chrono::seconds(second)); }

TEST(FailureReports, TheFirstIsReportedAtOnceAndLaterOnesAtGrowingIntervals) {
  FailureReports reports("checkpoints");
  std::vector<int> reported;
  for (int second = 0; second < 200; ++second) {
    if (reports.failed("/run: No space left on device", at(second))) reported.push_back(second);
  }
  EXPECT_EQ(reported, (std::vector<int>{0, 10, 30, 70, 150}));
}

TEST(FailureReports, ALaterOneSaysHowManyThereWere) {
  FailureReports reports("checkpoints");
  EXPECT_EQ(reports.failed("full", at(5)), "full");
  EXPECT_EQ(reports.failed("full", at(6)), std::nullopt);
  EXPECT_EQ(reports.failed("full", at(75)), "full (failure 3 in 1m10s)");
}

TEST(FailureReports, TheEndOfAFailureIsReportedOnce) {
  FailureReports reports("checkpoints");
  EXPECT_EQ(reports.worked(at(1)), std::nullopt);
  reports.failed("full", at(2));
  reports.failed("full", at(3));
  EXPECT_EQ(reports.worked(at(4)), "checkpoints are written again, after 2 failures in 2s");
  EXPECT_EQ(reports.worked(at(5)), std::nullopt);
  EXPECT_EQ(reports.failed("full", at(6)), "full") << "the next one is a first one again";
  EXPECT_EQ(reports.worked(at(6)), "checkpoints are written again, after 1 failure in 0s");
}

}  // namespace
}  // namespace orrery
