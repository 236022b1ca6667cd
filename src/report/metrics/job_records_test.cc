#include "report/metrics/job_records.h"

#include <gtest/gtest.h>

#include "report/test_run.h"

namespace orrery {
namespace {

using enum EventKind;

std::string lines_of(const TestRun& run, std::optional<JobWindow> window = {}) {
  JobRecorder recorder(run.cluster);
  run.send(recorder);
  fmt::memory_buffer out;
  Workload workload;
  for (const Event& event : run.events()) {
    if (event.kind == Submitted) workload.jobs.push_back(*event.spec);
  }
  append_job_lines(out, "r,", workload, std::move(recorder).records(), window);
  return fmt::to_string(out);
}

TEST(JobRecords, AJobIsFollowedFromItsSubmissionToItsEnd) {
  TestRun run(1, 2);
  run.submit(10, 0, 2, 30).deadline = time_from_seconds(60);
  run.hold(12, 0, Started, {{NodeId{0}, 0b11}});
  run.add(30, 0, Paused);
  run.hold(50, 0, Resumed, {{NodeId{0}, 0b11}});
  run.hold(55, 0, Resized, {{NodeId{0}, 0b01}});
  run.add(60, 0, Completed);
  // Alone in the cluster: 30 s of work in 50 s.
  EXPECT_EQ(lines_of(run), fmt::format("r,job0,,,2,30,10,12,60,Done,50,22,1,60,1,{}\n", 50.0 / 30));
}

TEST(JobRecords, AJobThatDidNotCompleteHasNoCompletionTime) {
  TestRun run(1, 2);
  run.submit(10, 0).deadline = time_from_seconds(11);
  run.add(10, 0, Rejected);
  run.submit(20, 1);
  run.hold(25, 1, Started, {{NodeId{0}, 0b11}});
  run.add(30, 1, Failed);
  run.submit(40, 2);
  EXPECT_EQ(lines_of(run),
            "r,job0,,,1,10,10,,10,Rejected,,,0,11,0,\n"
            "r,job1,,,1,10,20,25,30,Failed,,,0,,,\n"
            "r,job2,,,1,10,40,,,Pending,,,0,,,\n");
}

TEST(JobRecords, NamesAreQuotedAndAWindowLeavesOutTheOthers) {
  TestRun run(1, 2);
  run.submit(10, 0);
  run.submit(20, 1).name = "a,\"b\"";
  EXPECT_EQ(lines_of(run, JobWindow{JobId{1}, JobId{2}}),
            "r,\"a,\"\"b\"\"\",,,1,10,20,,,Pending,,,0,,,\n");
}

}  // namespace
}  // namespace orrery
