#include "report/event_log/event_comparison.h"

#include <gtest/gtest.h>

#include "report/test_run.h"

namespace orrery {
namespace {

using enum EventKind;

TestRun two_jobs() {
  TestRun run(2, 4);
  run.submit(0, 0);
  run.submit(0, 1);
  Grant& grant = run.hold(0, 0, Started, {{NodeId{0}, 0x3}});
  grant.cpu_milli = 6000;
  grant.memory_bytes = 125'000'000'000;
  run.add(0, 1, Queued).reason = {Reason::Code::GpusBusy, kNoJob, 4, 2};
  run.add(10, 0, Completed);
  return run;
}

EventComparison::Source source(const TestRun& run) {
  return [&run, at = std::size_t{0}](Event& event) mutable -> Result<bool> {
    if (at == run.events().size()) return false;
    event = run.events()[at++];
    return true;
  };
}

EventComparison compared(const TestRun& recorded, const TestRun& made) {
  EventComparison comparison(source(recorded));
  made.send(comparison);
  EXPECT_TRUE(comparison.finish().ok());
  return comparison;
}

TEST(EventComparison, ARunAgreesWithItself) {
  const TestRun run = two_jobs();
  const EventComparison comparison = compared(run, run);
  EXPECT_FALSE(comparison.difference());
  EXPECT_EQ(comparison.agreed(), 5);
}

TEST(EventComparison, ForecastsAndNumbersOfEventsDoNotMatter) {
  const TestRun recorded = two_jobs();
  TestRun made(2, 4);
  made.submit(0, 0);
  made.submit(0, 1);
  Grant& grant = made.hold(0, 0, Started, {{NodeId{0}, 0x3}}, 17, 3);
  grant.cpu_milli = 6000;
  grant.memory_bytes = 125'000'000'000;
  made.add(0, 1, Queued).reason = {Reason::Code::GpusBusy, kNoJob, 4, 2};
  Event& end = made.add(10, 0, Completed);
  end.work_left = 0.5;
  end.sequence = 99;
  EXPECT_FALSE(compared(recorded, made).difference());
}

TEST(EventComparison, TheFirstDifferenceHasBothDecisions) {
  const TestRun recorded = two_jobs();
  TestRun made(2, 4);
  made.submit(0, 0);
  made.submit(0, 1);
  made.hold(0, 1, Started, {{NodeId{0}, 0x1}, {NodeId{1}, 0xC}});
  made.add(5, 1, Completed);
  const EventComparison comparison = compared(recorded, made);
  ASSERT_TRUE(comparison.difference());
  EXPECT_EQ(comparison.agreed(), 2);
  const auto& [was, is] = *comparison.difference();
  ASSERT_TRUE(was && is);
  EXPECT_EQ(was->event.job, JobId{0});
  EXPECT_EQ(is->event.job, JobId{1});
  EXPECT_EQ(decision_text(*was, recorded.cluster),
            "started on n0 (GPUs 0 1) with 6 CPUs and 125 GB");
  EXPECT_EQ(decision_text(*is, made.cluster), "started on n0 (GPU 0), n1 (GPUs 2 3)");
}

TEST(EventComparison, CpusReasonsAndTimesMakeDifferences) {
  const TestRun recorded = two_jobs();
  for (int change = 0; change < 3; ++change) {
    TestRun made(2, 4);
    made.submit(0, 0);
    made.submit(0, 1);
    Grant& grant = made.hold(0, 0, Started, {{NodeId{0}, 0x3}});
    grant.cpu_milli = change == 0 ? 5999 : 6000;
    grant.memory_bytes = 125'000'000'000;
    made.add(0, 1, Queued).reason = {Reason::Code::GpusBusy, kNoJob, 4, change == 1 ? 1 : 2};
    made.add(change == 2 ? 11 : 10, 0, Completed);
    const EventComparison comparison = compared(recorded, made);
    ASSERT_TRUE(comparison.difference()) << change;
    EXPECT_EQ(comparison.agreed(), change + 2) << change;
  }
}

TEST(EventComparison, OneThatEndsEarlierDiffersThere) {
  const TestRun whole = two_jobs();
  TestRun part(2, 4);
  part.submit(0, 0);
  part.submit(0, 1);
  const auto cut = compared(part, whole).difference();
  ASSERT_TRUE(cut);
  EXPECT_FALSE(cut->recorded);
  EXPECT_EQ(cut->made->event.kind, Started);
  const auto longer = compared(whole, part).difference();
  ASSERT_TRUE(longer);
  EXPECT_FALSE(longer->made);
  EXPECT_EQ(longer->recorded->event.kind, Started);
}

TEST(EventComparison, ARecordThatCannotBeReadIsAnError) {
  EventComparison comparison([](Event&) -> Result<bool> { return invalid("log:7: broken"); });
  two_jobs().send(comparison);
  const Status status = comparison.finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "log:7: broken");
}

}  // namespace
}  // namespace orrery
