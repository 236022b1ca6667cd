#include "commands/programs/live_trace.h"

#include <gtest/gtest.h>

#include "live/daemon/core/test_core.h"
#include "live/daemon/log/event_tail.h"
#include "live/daemon/rights/disclosure.h"

namespace orrery {
namespace {

using std::chrono::seconds;

// What `orrery record` has of the log.
LiveTrace trace_of(TestCore& test) {
  test.write_down();
  const Viewer viewer{.caller = kRoot};
  LiveTrace trace;
  for (const Record& record : test.log) {
    const Status taken = trace.take(event_line(record, 0, viewer));
    EXPECT_TRUE(taken.ok()) << taken.error().message;
  }
  return trace;
}

TEST(LiveTrace, AJobThatWasCancelledBeforeItRanIsLeftOut) {
  TestCore test;
  test.join("n", 1, 1);
  const JobNumber runs = test.submit({});
  const JobNumber never = test.submit({});
  const JobNumber waits = test.submit({.expected = seconds(90)});
  test.pass(seconds(20));
  ASSERT_TRUE(test.core.cancel(kRoot, {.ids = {runs, never}}, test.now).ok());
  test.pass();
  const LiveTrace trace = trace_of(test);
  const Workload workload = trace.jobs();
  ASSERT_EQ(workload.jobs.size(), 2U);
  EXPECT_EQ(workload.jobs[0].name, std::to_string(runs));
  EXPECT_NEAR(workload.jobs[0].duration_s(), 20, 1e-9);
  EXPECT_EQ(workload.jobs[1].name, std::to_string(waits));
  EXPECT_EQ(index(workload.jobs[1].id), 1);
  EXPECT_EQ(trace.never_ran(), std::vector<JobNumber>{never});
}

TEST(LiveTrace, TheClusterHasTheNodesOfTheLog) {
  TestCore test;
  test.join("n", 2, 1);
  test.join("m", 1, 2);
  test.core.disconnected(2);
  test.pass(seconds(16));
  const Cluster cluster = trace_of(test).cluster();
  EXPECT_EQ(cluster.gpus_total(), 3);
  EXPECT_EQ(cluster.nodes.size(), 2U);
}

}  // namespace
}  // namespace orrery
