// Jobs in the tree of version 2 of this machine. Where version 1 is mounted, that tree has only the
// controllers that version 1 does not use; a test without its controller is skipped.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/agent/test_jobs.h"
#include "live/job_runner/cgroup.h"

namespace orrery {
namespace {

class SecondVersion : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* const tree : {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
      std::error_code none;
      if (!std::filesystem::exists(std::string(tree) + "/cgroup.controllers", none)) continue;
      const std::string path = std::string(tree) + "/orrery-test-" + std::to_string(::getpid());
      if (::mkdir(path.c_str(), 0755) != 0) break;
      home_ = {.path = path, .version = 2};
      for (const std::string& folder : {std::string(tree), path}) {
        for (const char* const controller : {"+pids", "+cpu"}) {
          static_cast<void>(write_control(folder + "/cgroup.subtree_control", controller).ok());
        }
      }
      return;
    }
    GTEST_SKIP() << "no cgroup of version 2 for tests";
  }
  void TearDown() override {
    if (home_.path.empty()) return;
    EXPECT_EQ(::rmdir(home_.path.c_str()), 0) << "a job's cgroup is left in " << home_.path;
  }

  bool has(const std::string& controller) const {
    return read_word(home_.path + "/cgroup.subtree_control").find(controller) != std::string::npos;
  }
  Launch launch(std::vector<std::string> what) const {
    return {.job = JobId{1}, .argv = act(std::move(what)), .cgroup_home = home_};
  }

  TestFolder folder_;
  LocalJobs jobs_ = open_jobs(folder_ / "state");
  CgroupHome home_{};
};

TEST_F(SecondVersion, AJobIsInACgroupOfItsOwnThatGoesWithIt) {
  const JobProcess process = start(jobs_, launch({"hang"}));
  process.wait_until_started();
  const JobRunning running = process.running().value();
  EXPECT_EQ(running.cgroup_version, 2);
  EXPECT_TRUE(running.cgroup.starts_with(home_.path + "/")) << running.cgroup;
  EXPECT_EQ(read_word(running.cgroup + "/cgroup.procs"), std::to_string(running.pid));
  EXPECT_TRUE(process.stop(Duration::zero()).ok());
  EXPECT_EQ(end_of(process).kind, JobEnd::Kind::Stopped);
  EXPECT_FALSE(std::filesystem::exists(running.cgroup));
}

TEST_F(SecondVersion, TheKernelKillsEveryProcessOfACgroup) {
  const JobProcess process = start(jobs_, launch({"hang"}));
  process.wait_until_started();
  const JobRunning running = process.running().value();
  JobCgroup(running.cgroup, running.cgroup_version).kill_all();
  const JobEnd end = end_of(process);
  EXPECT_EQ(end.kind, JobEnd::Kind::Signalled);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST_F(SecondVersion, AJobHasOnlySoManyProcesses) {
  if (!has("pids")) GTEST_SKIP() << "no pids controller of version 2";
  Launch job = launch({"fork", "20"});
  job.output = folder_ / "out";
  job.processes = 8;
  const JobProcess process = start(jobs_, job);
  EXPECT_EQ(end_of(process).exit_code, 0);
  EXPECT_EQ(read_word(folder_ / "out"), "7") << "and the job itself";
}

TEST_F(SecondVersion, CpusAreWeighedAndBounded) {
  if (!has("cpu")) GTEST_SKIP() << "no cpu controller of version 2";
  Launch job = launch({"hang"});
  job.cpu_milli = 1500;
  const JobProcess process = start(jobs_, job);
  process.wait_until_started();
  const JobRunning running = process.running().value();
  EXPECT_NE(running.enforced.find("cpu"), std::string::npos) << running.enforced;
  EXPECT_EQ(read_word(running.cgroup + "/cpu.weight"), "150");
  EXPECT_EQ(read_word(running.cgroup + "/cpu.max"), "200000 100000");
  EXPECT_TRUE(process.stop(Duration::zero()).ok());
  end_of(process);
}

}  // namespace
}  // namespace orrery
