#include "experiments/runs/run_names.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using Names = std::vector<std::string>;

TEST(RunNames, ATraceKeepsItsNameWhileNoOtherHasIt) {
  const Names paths = {"a/t.csv", "b/u.csv"};
  EXPECT_EQ(distinct_trace_names(paths, Names{"t", "u"}), (Names{"t", "u"}));
}

TEST(RunNames, TracesOfOneNameInTwoFoldersAreCalledByTheirPath) {
  const Names paths = {"a/t.csv", "b/t.csv", "c/u.csv"};
  EXPECT_EQ(distinct_trace_names(paths, Names{"t", "t", "u"}), (Names{"a/t", "b/t", "u"}));
}

TEST(RunNames, ATraceGivenTwiceGetsANumber) {
  const Names paths = {"t.csv", "t.csv"};
  EXPECT_EQ(distinct_trace_names(paths, Names{"t", "t"}), (Names{"t", "t (2)"}));
  const Names mixed = {"a/t.csv", "a/t.csv", "b/t.csv", "a/t.json"};
  EXPECT_EQ(distinct_trace_names(mixed, Names{"t", "t", "t", "t"}),
            (Names{"a/t", "a/t (2)", "b/t", "a/t (3)"}));
}

TEST(RunNames, OneRunWritesTheFileItself) {
  EXPECT_EQ(event_log_paths("dir.d/x.jsonl", Names{"t-las"}).value(), Names{"dir.d/x.jsonl"});
}

TEST(RunNames, SeveralRunsWriteFilesOfTheirOwn) {
  EXPECT_EQ(event_log_paths("dir.d/x.jsonl.zst", Names{"t-las", "t-srtf"}).value(),
            (Names{"dir.d/x-t-las.jsonl.zst", "dir.d/x-t-srtf.jsonl.zst"}));
}

TEST(RunNames, NoTwoRunsShareAnEventLog) {
  EXPECT_EQ(event_log_paths("x", Names{"t-las", "t-las", "t las", "t-las-2", "t_las"}).value(),
            (Names{"x-t-las", "x-t-las-3", "x-t_las", "x-t-las-2", "x-t_las-2"}));
}

TEST(RunNames, SeveralRunsMayAllWriteToTheNullDeviceButNotToOnePipe) {
  EXPECT_EQ(event_log_paths("/dev/null", Names{"a", "b"}).value(),
            (Names{"/dev/null", "/dev/null"}));
  EXPECT_FALSE(event_log_paths("/dev/stdout", Names{"a", "b"}).ok());
}

}  // namespace
}  // namespace orrery
