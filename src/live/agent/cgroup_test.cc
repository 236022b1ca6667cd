#include "live/job_runner/cgroup.h"

#include <signal.h>
#include <stdlib.h>

#include "live/agent/test_jobs.h"

namespace orrery {
namespace {

TEST(Cgroup, WhatKindAHomeIsIsSeenFromItsFiles) {
  const TestFolder tree;
  tree.write("one/memory.limit_in_bytes", "0");
  tree.write("two/cgroup.controllers", "memory cpu");
  tree.write("two/cgroup.subtree_control", "");
  EXPECT_EQ(open_cgroup_home(tree / "one").value().version, 1);
  EXPECT_EQ(open_cgroup_home(tree / "two").value().version, 2);
  EXPECT_EQ(read_word(tree / "two/cgroup.subtree_control"), "+memory");
}

TEST(Cgroup, ADirectoryThatIsNoneIsRefusedWithAdvice) {
  const TestFolder tree;
  const auto home = open_cgroup_home(tree / "plain");
  ASSERT_FALSE(home.ok());
  EXPECT_NE(home.error().message.find("is no cgroup with a memory controller"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(tree / "plain")) << "a directory of no use is left behind";
  EXPECT_FALSE(open_cgroup_home(tree / "not/there").ok());
}

TEST(Cgroup, KillsByTheKernelAreReadInBothVersions) {
  const TestFolder tree;
  tree.write("one/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  tree.write("two/memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\n");
  EXPECT_EQ(JobCgroup(tree / "one", 1).out_of_memory_kills(), 2);
  EXPECT_EQ(JobCgroup(tree / "two", 2).out_of_memory_kills(), 1);
  EXPECT_EQ(JobCgroup().out_of_memory_kills(), 0);
}

TEST(Cgroup, WhereACgroupCannotBeMadeTheLimitIsByProcessAndSaysSo) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer does not live with a memory limit";
  const TestFolder tree;
  tree.write("one/memory.limit_in_bytes", "0");
  const LocalJobs jobs = open_jobs(tree / "state");
  const JobProcess job = start(jobs, {.job = JobId{0},
                                      .argv = act({"exit", "0"}),
                                      .memory_bytes = std::int64_t{1} << 30,
                                      .cgroup_home = {.path = tree / "one", .version = 1}});
  EXPECT_EQ(end_of(job).exit_code, 0);
  EXPECT_EQ(job.running().value().memory_limit, MemoryLimit::Rlimit);
}

// ORRERY_TEST_CGROUP names a cgroup directory that this user may write to, for these tests alone.
class RealCgroup : public testing::Test {
 protected:
  void SetUp() override {
    const char* const path = ::getenv("ORRERY_TEST_CGROUP");
    if (!path) GTEST_SKIP() << "ORRERY_TEST_CGROUP names no cgroup directory to test in";
    auto home = open_cgroup_home(path);
    ASSERT_TRUE(home.ok()) << home.error().message;
    home_ = std::move(home).value();
  }

  JobProcess eat(std::size_t bytes, int epoch) {
    return start(jobs_, {.job = JobId{0},
                         .epoch = epoch,
                         .argv = act({"eat", std::to_string(bytes)}),
                         .memory_bytes = std::int64_t{64} << 20,
                         .cgroup_home = home_});
  }

  TestFolder folder_;
  LocalJobs jobs_ = open_jobs(folder_ / "state");
  CgroupHome home_{};
};

TEST_F(RealCgroup, AJobBeyondItsMemoryEndsOutOfMemory) {
  const JobProcess fits = eat(std::size_t{16} << 20, 0);
  EXPECT_EQ(end_of(fits).exit_code, 0);
  const JobProcess job = eat(std::size_t{256} << 20, 1);
  const JobEnd end = end_of(job);
  EXPECT_EQ(end.kind, JobEnd::Kind::OutOfMemory) << end_name(end.kind);
  EXPECT_EQ(end.signal, SIGKILL);
  const JobRunning running = job.running().value();
  EXPECT_EQ(running.memory_limit,
            home_.version == 1 ? MemoryLimit::CgroupV1 : MemoryLimit::CgroupV2);
  EXPECT_FALSE(std::filesystem::exists(running.cgroup)) << "it goes with the job";
}

}  // namespace
}  // namespace orrery
