// Jobs in cgroups of this machine, where the tests may make some: memory, processes, CPU, devices.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "live/agent/cgroup_home.h"
#include "live/agent/test_jobs.h"

namespace orrery {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::string words(const std::string& path) { return read_word(path); }

class Isolation : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer needs more memory than the limits leave";
    auto home = find_cgroup_home("orrery-test-" + std::to_string(::getpid()));
    if (!home.ok()) GTEST_SKIP() << "no cgroups for tests: " << home.error().message;
    home_ = std::move(home).value();
  }
  void TearDown() override { remove_cgroup_home(home_); }

  Launch launch(std::vector<std::string> what) const {
    return {.job = JobId{1}, .argv = act(std::move(what)), .cgroup_home = home_};
  }
  bool has(const char* controller) const {
    return home_.version == 2 || !folder_of(home_.others, controller).empty();
  }

  TestFolder folder_;
  LocalJobs jobs_ = open_jobs(folder_ / "state");
  CgroupHome home_{};
};

TEST_F(Isolation, SharedMemoryCountsToTheJobsMemory) {
  Launch job = launch({"share", std::to_string(160 * kMiB)});
  job.memory_bytes = 64 * kMiB;
  const JobEnd end = end_of(start(jobs_, job));
  EXPECT_EQ(end.kind, JobEnd::Kind::OutOfMemory) << end_name(end.kind) << " " << end.exit_code;
  Launch small = launch({"share", std::to_string(16 * kMiB)});
  small.epoch = 1;
  small.memory_bytes = 64 * kMiB;
  EXPECT_EQ(end_of(start(jobs_, small)).exit_code, 0);
}

TEST_F(Isolation, ProcessesOfAJobShareItsMemory) {
  Launch job = launch({"eat-together", "4", std::to_string(48 * kMiB)});
  job.memory_bytes = 64 * kMiB;
  EXPECT_EQ(end_of(start(jobs_, job)).kind, JobEnd::Kind::OutOfMemory);
  Launch alone = launch({"eat-together", "1", std::to_string(48 * kMiB)});
  alone.epoch = 1;
  alone.memory_bytes = 64 * kMiB;
  EXPECT_EQ(end_of(start(jobs_, alone)).exit_code, 0);
}

// The job itself is not the process that was killed, and would wait for ever.
TEST_F(Isolation, AJobThatLosesAProcessToItsLimitEndsAsAWhole) {
  Launch job = launch({"eat-in-child", std::to_string(160 * kMiB)});
  job.memory_bytes = 64 * kMiB;
  EXPECT_EQ(end_of(start(jobs_, job)).kind, JobEnd::Kind::OutOfMemory);
}

TEST_F(Isolation, AJobHasOnlySoManyProcesses) {
  if (!has("pids")) GTEST_SKIP() << "no pids controller";
  Launch job = launch({"fork", "20"});
  job.output = folder_ / "out";
  job.processes = 8;
  EXPECT_EQ(end_of(start(jobs_, job)).exit_code, 0);
  EXPECT_EQ(words(folder_ / "out"), "7") << "and the job itself";
}

TEST_F(Isolation, CpusAreWeighedAndBounded) {
  if (!has("cpu")) GTEST_SKIP() << "no cpu controller";
  Launch job = launch({"hang"});
  job.cpu_milli = 1500;
  const JobProcess process = start(jobs_, job);
  process.wait_until_started();
  const JobRunning running = process.running().value();
  EXPECT_NE(running.enforced.find("cpu"), std::string::npos) << running.enforced;
  const std::string cpu =
      home_.version == 1 ? folder_of(running.cgroup_others, "cpu") : running.cgroup;
  if (home_.version == 1) {
    EXPECT_EQ(words(cpu + "/cpu.shares"), "1536");
    EXPECT_EQ(words(cpu + "/cpu.cfs_quota_us"), "200000");
  } else {
    EXPECT_EQ(words(cpu + "/cpu.weight"), "150");
    EXPECT_EQ(words(cpu + "/cpu.max"), "200000 100000");
  }
  EXPECT_TRUE(process.stop(Duration::zero()).ok());
  end_of(process);
  EXPECT_FALSE(std::filesystem::exists(cpu)) << "it goes with the job";
}

// Two device files stand for GPUs: /dev/full and /dev/zero, under other names.
class Devices : public Isolation {
 protected:
  void SetUp() override {
    Isolation::SetUp();
    if (IsSkipped()) return;
    if (!has("devices")) GTEST_SKIP() << "no devices controller";
    own_ = folder_ / "own";
    other_ = folder_ / "other";
    if (::mknod(own_.c_str(), S_IFCHR | 0666, makedev(1, 5)) != 0 ||
        ::mknod(other_.c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0) {
      GTEST_SKIP() << "device files cannot be made here";
    }
    const Fd probe(::open(own_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!probe.ok()) GTEST_SKIP() << "device files cannot be opened in " << folder_.path();
  }
  std::string own_;
  std::string other_;
};

TEST_F(Devices, AJobCannotOpenTheGpusOfOthers) {
  Launch job = launch({"open-devices", own_, other_, "/dev/null"});
  job.output = folder_ / "out";
  job.closed_devices = {other_, folder_ / "missing"};
  const JobProcess process = start(jobs_, job);
  EXPECT_EQ(end_of(process).exit_code, 0);
  EXPECT_NE(process.running().value().enforced.find("devices"), std::string::npos);
  EXPECT_EQ(words(folder_ / "out"), "yes\nno\nyes");
}

// On a machine with version 1 the tree of version 2 has no controllers, but it takes programs.
TEST_F(Devices, InVersion2AProgramOfTheKernelClosesThem) {
  std::string second;
  for (const char* const tree : {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
    const std::string path = std::string(tree) + "/orrery-test-" + std::to_string(::getpid());
    std::error_code none;
    if (!std::filesystem::exists(std::string(tree) + "/cgroup.controllers", none)) continue;
    if (::mkdir(path.c_str(), 0755) == 0) second = path;
    break;
  }
  if (second.empty()) GTEST_SKIP() << "no cgroup of version 2 for tests";
  const std::vector<DeviceNumber> closed = {*device_number(other_)};
  const Status status = close_devices(second, 2, closed);
  EXPECT_TRUE(status.ok()) << status.error().message;
  const pid_t child = ::fork();
  if (child == 0) {
    if (!write_control(second + "/cgroup.procs", std::to_string(::getpid())).ok()) ::_exit(9);
    const bool own = ::open(own_.c_str(), O_RDONLY | O_CLOEXEC) >= 0;
    const bool other = ::open(other_.c_str(), O_RDONLY | O_CLOEXEC) >= 0;
    ::_exit((own ? 1 : 0) + (other ? 2 : 0));
  }
  int code = 0;
  ::waitpid(child, &code, 0);
  EXPECT_EQ(WEXITSTATUS(code), 1) << "1: its own, 2: that of others";
  ::rmdir(second.c_str());
}

TEST(DeviceRules, OnlyCharacterDevicesHaveANumber) {
  EXPECT_EQ(device_number("/dev/null"), (DeviceNumber{.major = 1, .minor = 3}));
  EXPECT_FALSE(device_number("/"));
  EXPECT_FALSE(device_number("/no/such/file"));
}

TEST(Core, AJobLeavesNoCoreFileUnlessItMay) {
  const TestFolder folder;
  const LocalJobs jobs = open_jobs(folder / "state");
  Launch job{.job = JobId{1}, .argv = act({"core-limit"}), .output = folder / "out"};
  EXPECT_EQ(end_of(start(jobs, job)).exit_code, 0);
  EXPECT_EQ(words(folder / "out"), "0 0");
  job.epoch = 1;
  job.core_bytes = 4096;
  job.output = folder / "more";
  if (::geteuid() != 0) GTEST_SKIP() << "only root can raise the limit of this process";
  EXPECT_EQ(end_of(start(jobs, job)).exit_code, 0);
  EXPECT_EQ(words(folder / "more"), "4096 4096");
}

}  // namespace
}  // namespace orrery
