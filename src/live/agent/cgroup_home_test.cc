#include "live/agent/cgroup_home.h"

#include <unistd.h>

#include "live/agent/test_jobs.h"

namespace orrery {
namespace {

// A machine made up of files: controllers of version 1 in trees of their own.
TEST(CgroupHome, InVersion1ThereIsOneForEachControllerBelowTheAgentsOwn) {
  const TestFolder root;
  root.write("proc/self/cgroup", "5:devices:/\n4:memory:/site/agent\n3:cpu,cpuacct:/site\n0::/\n");
  root.write("proc/self/mountinfo",
             "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
             "36 31 0:33 / /sys/fs/cgroup/devices rw shared:9 - cgroup cgroup rw,devices\n"
             "32 31 0:29 /site /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
             "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  const std::string cgroups = root / "sys/fs/cgroup";
  root.write("sys/fs/cgroup/memory/site/agent/orrery-1/memory.limit_in_bytes", "0");
  root.write("sys/fs/cgroup/devices/tasks", "");
  root.write("sys/fs/cgroup/cpu/orrery-1/cpu.shares", "1024");
  const auto home = find_cgroup_home("orrery-1", root.path());
  ASSERT_TRUE(home.ok()) << home.error().message;
  EXPECT_EQ(home.value().version, 1);
  EXPECT_EQ(home.value().path, cgroups + "/memory/site/agent/orrery-1");
  EXPECT_EQ(home.value().others, (CgroupFolders{{"cpu", cgroups + "/cpu/orrery-1"},
                                                {"devices", cgroups + "/devices/orrery-1"}}));
  EXPECT_NE(read_word(cgroups + "/cpu/orrery-1/cpu.shares"), "1024")
      << "jobs together weigh more than one process";
}

TEST(CgroupHome, InVersion2ControllersAreHandedDown) {
  const TestFolder root;
  root.write("proc/self/cgroup", "0::/service\n");
  root.write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  const std::string own = root / "sys/fs/cgroup/service";
  root.write("sys/fs/cgroup/service/cgroup.controllers", "cpu memory pids");
  root.write("sys/fs/cgroup/service/cgroup.subtree_control", "");
  root.write("sys/fs/cgroup/service/orrery-1/cgroup.controllers", "cpu memory pids");
  root.write("sys/fs/cgroup/service/orrery-1/cgroup.subtree_control", "");
  const auto home = find_cgroup_home("orrery-1", root.path());
  ASSERT_TRUE(home.ok()) << home.error().message;
  EXPECT_EQ(home.value().version, 2);
  EXPECT_EQ(home.value().path, own + "/orrery-1");
}

TEST(CgroupHome, InVersion2JobsOfAServiceHaveTheCgroupThatIsKeptForThem) {
  const TestFolder root;
  root.write("proc/self/cgroup", "0::/orrery.slice/orrery-agent.service\n");
  root.write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.write("sys/fs/cgroup/orrery.slice/orrery-agent.service/cgroup.controllers", "memory");
  root.write("sys/fs/cgroup/orrery.slice/orrery-agent.service/cgroup.subtree_control", "");
  const std::string kept = "sys/fs/cgroup/orrery.slice/orrery-jobs.service";
  for (const std::string& cgroup : {kept, kept + "/orrery-1"}) {
    root.write(cgroup + "/cgroup.controllers", "cpu memory pids");
    root.write(cgroup + "/cgroup.subtree_control", "");
  }
  const auto home = find_cgroup_home("orrery-1", root.path());
  ASSERT_TRUE(home.ok()) << home.error().message;
  EXPECT_EQ(home.value().path, root / (kept + "/orrery-1"));
  EXPECT_EQ(read_word(root / "sys/fs/cgroup/orrery.slice/orrery-agent.service/"
                             "cgroup.subtree_control"),
            "")
      << "a process could not be put there any more";
}

TEST(CgroupHome, AnAgentAmongOtherProcessesIsRefusedWithTheRemedy) {
  const TestFolder root;
  root.write("proc/self/cgroup", "0::/user\n");
  root.write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.write("sys/fs/cgroup/user/cgroup.controllers", "cpu memory pids");
  // There is no cgroup.subtree_control that could be written to.
  root.write("sys/fs/cgroup/user/cgroup.procs", "1\n" + std::to_string(::getpid()) + "\n");
  const auto home = find_cgroup_home("orrery-1", root.path());
  ASSERT_FALSE(home.ok());
  EXPECT_NE(home.error().message.find("Delegate=yes"), std::string::npos) << home.error().message;
}

// Plain directories stand for cgroups: rmdir() fails where something is in one.
TEST(CgroupHome, WhatKilledAgentsHaveLeftIsRemoved) {
  const TestFolder root;
  const auto make = [&](const std::string& name) {
    for (const char* const tree : {"memory/", "pids/"}) {
      std::filesystem::create_directories(root / (tree + name));
    }
    return CgroupHome{.path = root / ("memory/" + name),
                      .version = 1,
                      .others = {{"pids", root / ("pids/" + name)}}};
  };
  const CgroupHome own = make(cgroup_home_name("00112233445566778899"));
  const CgroupHome other = make("orrery-aabbccddeeff");
  const CgroupHome left = make("orrery-0123456789ab");
  const CgroupHome busy = make("orrery-ba9876543210");
  const CgroupHome foreign = make("orrery-of-another");
  std::filesystem::create_directories(busy.path + "/1.0.0");
  const Fd held = hold_cgroup_home(other);
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(remove_left_cgroup_homes(own), 1);
  EXPECT_FALSE(std::filesystem::exists(left.path));
  EXPECT_FALSE(std::filesystem::exists(left.others.front().second));
  EXPECT_FALSE(hold_cgroup_home(left).ok()) << "it is gone";
  for (const CgroupHome& stays : {own, other, busy, foreign}) {
    EXPECT_TRUE(std::filesystem::exists(stays.path)) << stays.path;
    EXPECT_TRUE(std::filesystem::exists(stays.others.front().second)) << stays.path;
  }
}

TEST(CgroupHome, WithoutCgroupsThereIsNone) {
  const TestFolder root;
  EXPECT_FALSE(find_cgroup_home("orrery-1", root.path()).ok());
}

}  // namespace
}  // namespace orrery
