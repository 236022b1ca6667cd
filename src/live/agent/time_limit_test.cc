#include "live/job_runner/time_limit.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "live/agent/test_jobs.h"

namespace orrery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(TimeLimit, TheSignalComesOnceAndAheadOfTheEnd) {
  const Launch launch{.time_left = seconds(100), .signal = SIGUSR1, .signal_before = seconds(10)};
  TimeLimit limit(launch, seconds(1000));
  EXPECT_EQ(limit.next(), seconds(1090));
  EXPECT_FALSE(limit.take_signal(seconds(1089)));
  EXPECT_TRUE(limit.take_signal(seconds(1090)));
  EXPECT_FALSE(limit.take_signal(seconds(1091)));
  EXPECT_EQ(limit.next(), seconds(1100));
  EXPECT_FALSE(limit.is_over(seconds(1099)));
  EXPECT_TRUE(limit.is_over(seconds(1100)));
}

TEST(TimeLimit, WithoutALimitNothingIsEverDue) {
  TimeLimit limit(Launch{.signal = SIGUSR1}, seconds(1));
  EXPECT_EQ(limit.next(), Duration::max());
  EXPECT_FALSE(limit.take_signal(std::chrono::hours(1000)));
  EXPECT_FALSE(limit.is_over(std::chrono::hours(1000)));
}

// No agent is there: the supervisor keeps the limit by itself.
TEST(TimeLimit, AJobThatRunsForTooLongIsStoppedAndSaysWhy) {
  const TestFolder folder;
  const LocalJobs jobs = open_jobs(folder / "state");
  const JobProcess job =
      start(jobs, {.job = JobId{0}, .argv = act({"polite"}), .time_left = milliseconds(300)});
  const JobEnd end = end_of(job);
  EXPECT_EQ(end.kind, JobEnd::Kind::TimeLimit) << end_name(end.kind);
  EXPECT_EQ(end.exit_code, 7) << "it heard the SIGTERM";
  EXPECT_GE(end.ran_ns, 300'000'000);
}

TEST(TimeLimit, AJobThatHearsNoSignalIsKilledAfterItsGracePeriod) {
  const TestFolder folder;
  const LocalJobs jobs = open_jobs(folder / "state");
  const JobProcess job = start(jobs, {.job = JobId{0},
                                      .argv = act({"deaf"}),
                                      .grace = milliseconds(200),
                                      .time_left = milliseconds(200)});
  const JobEnd end = end_of(job);
  EXPECT_EQ(end.kind, JobEnd::Kind::TimeLimit) << end_name(end.kind);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_GE(end.ran_ns, 400'000'000);
}

TEST(TimeLimit, TheEarlySignalReachesTheJob) {
  const TestFolder folder;
  const LocalJobs jobs = open_jobs(folder / "state");
  const JobProcess job = start(jobs, {.job = JobId{0},
                                      .argv = act({"polite"}),
                                      .time_left = std::chrono::hours(1),
                                      .signal = SIGTERM,
                                      .signal_before = std::chrono::hours(1) - milliseconds(200)});
  const JobEnd end = end_of(job);
  EXPECT_EQ(end.kind, JobEnd::Kind::Exited) << "it left by itself, in time";
  EXPECT_EQ(end.exit_code, 7);
}

}  // namespace
}  // namespace orrery
