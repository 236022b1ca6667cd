#include "report/metrics/completion_times.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

CompletionTimes one_to(int jobs) {
  CompletionTimes times;
  for (int job = 1; job <= jobs; ++job) times.push_back(std::chrono::seconds(job));
  return times;
}

TEST(Distribution, EndsAtOneIfAllJobsCompletedAndHasFewPoints) {
  for (const int jobs : {1, 3, 1000}) {
    const auto points = distribution(one_to(jobs), static_cast<std::size_t>(jobs));
    ASSERT_FALSE(points.empty());
    EXPECT_LE(points.size(), 200U);
    EXPECT_DOUBLE_EQ(points.back().fraction, 1);
    EXPECT_DOUBLE_EQ(points.back().completion_time_s, jobs);
    for (const auto& point : points) {
      EXPECT_DOUBLE_EQ(point.fraction, std::floor(point.completion_time_s) / jobs);
    }
  }
}

TEST(Distribution, EndsAtTheShareThatIsDone) {
  for (const int done : {3, 1000}) {
    CompletionTimes times = one_to(done);
    times.insert(times.begin(), static_cast<std::size_t>(done), kNotCompleted);
    const auto points = distribution(times, static_cast<std::size_t>(4 * done));
    ASSERT_FALSE(points.empty());
    EXPECT_DOUBLE_EQ(points.back().fraction, 0.25);
  }
}

TEST(Distribution, IsEmptyIfNoJobCompleted) {
  EXPECT_TRUE(distribution({kNotCompleted, kNotCompleted}, 5).empty());
  EXPECT_TRUE(distribution({}, 0).empty());
}

TEST(AscendingSeconds, HoldsTheJobsThatCompleted) {
  using std::chrono::seconds;
  EXPECT_EQ(ascending_s({seconds(3), kNotCompleted, seconds(1)}), (std::vector<double>{1, 3}));
}

}  // namespace
}  // namespace orrery
