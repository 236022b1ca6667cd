#include "training/emulation/server_cgroup.h"

#include <gtest/gtest.h>

#include "training/emulation/owner.h"
#include "training/emulation/test_processes.h"

namespace orrery {
namespace {

TEST(CpuQuota, IsShortUnlessItsPartWouldBeBelowAMillisecond) {
  const auto is = [](double cores, long long quota_us, long long period_us) {
    const CpuQuota quota = cpu_quota(cores);
    EXPECT_EQ(quota.quota_us, quota_us) << cores;
    EXPECT_EQ(quota.period_us, period_us) << cores;
  };
  is(0.2, 2000, 10000);
  is(1.5, 15000, 10000);
  is(0.1, 1000, 10000);
  is(0.05, 1000, 20000);
  is(0.025, 1000, 40000);
  is(0.001, 1000, 1000000);
}

TEST(Cgroups, TheOneThisProcessIsInIsFoundInVersionOne) {
  const ScratchFolder tree;
  tree.write("cpu/mine/cpu.shares", "1024");
  tree.write("acct/cpuacct.usage", "0");
  tree.write("proc/cgroup", "3:cpu:/mine\n2:cpuacct:/\n0::/\n");
  tree.write("proc/mountinfo", "31 24 0:26 / " + (tree / "cpu") +
                                   " rw,relatime shared:9 - cgroup cgroup rw,cpu\n32 24 0:27 / " +
                                   (tree / "acct") + " rw - cgroup cgroup rw,cpuacct\n");
  const auto found = find_cgroups(tree / "proc");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found.value().version, 1);
  EXPECT_EQ(found.value().cpu, tree / "cpu/mine");
  EXPECT_EQ(found.value().account, tree / "acct");
}

TEST(Cgroups, AMountThatShowsAPartOfItsTreeIsReadFromThere) {
  const ScratchFolder tree;
  tree.write("v2/inner/cgroup.controllers", "cpuset cpu io memory");
  tree.write("proc/cgroup", "0::/box/inner\n");
  tree.write("proc/mountinfo", "31 24 0:26 /box " + (tree / "v2") + " rw - cgroup2 cgroup2 rw\n");
  const auto found = find_cgroups(tree / "proc");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found.value().version, 2);
  EXPECT_EQ(found.value().cpu, tree / "v2/inner");
}

TEST(Cgroups, WhereNoneIsTheMessageSaysWhatToDo) {
  const ScratchFolder tree;
  tree.write("v2/cgroup.controllers", "hugetlb");
  tree.write("proc/cgroup", "0::/\n");
  tree.write("proc/mountinfo", "31 24 0:26 / " + (tree / "v2") + " rw - cgroup2 cgroup2 rw\n");
  for (const auto& found : {find_cgroups(tree / "proc"), open_cgroups(tree / "v2")}) {
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.error().message.find("name a cgroup folder"), std::string::npos);
  }
}

// The files that the kernel makes in a new cgroup of version 2, as its documentation has them.
class VersionTwo : public testing::Test {
 protected:
  VersionTwo() {
    tree_.write("home/cgroup.controllers", "cpu memory");
    tree_.write("home/cgroup.subtree_control", "memory");
    tree_.write("home/s/cpu.max", "max 100000");
    tree_.write("home/s/cpu.weight", "100");
    tree_.write("home/s/cgroup.procs", "");
    tree_.write("home/s/cgroup.threads", "");
    tree_.write("home/s/cpu.stat",
                "usage_usec 2500000\nuser_usec 2400000\nsystem_usec 100000\nnr_periods 40\n"
                "nr_throttled 30\nthrottled_usec 1250000\n");
    home_ = open_cgroups(tree_ / "home").value();
  }
  ScratchFolder tree_{};
  CgroupTree home_{};
};

TEST_F(VersionTwo, AQuotaIsWrittenWithItsPeriod) {
  const ServerCgroup server(home_, "s");
  ASSERT_TRUE(server.set(0.2).ok());
  EXPECT_EQ(read_word(tree_ / "home/s/cpu.max"), "2000 10000");
  EXPECT_EQ(read_word(tree_ / "home/s/cpu.weight"), "1000");
}

TEST_F(VersionTwo, TheControllerIsHandedDownBeforeAGroupIsMade) {
  ASSERT_TRUE(ServerCgroup(home_, "new").make().ok());
  EXPECT_TRUE(std::filesystem::is_directory(tree_ / "home/new"));
  EXPECT_NE(read_word(tree_ / "home/cgroup.subtree_control").find("+cpu"), std::string::npos);
  EXPECT_FALSE(ServerCgroup(home_, "new").make().ok()) << "it is there already";
}

TEST_F(VersionTwo, AProcessIsAddedByItsNumber) {
  ASSERT_TRUE(ServerCgroup(home_, "s").add(4711).ok());
  EXPECT_EQ(read_word(tree_ / "home/s/cgroup.procs"), "4711");
}

TEST_F(VersionTwo, UseIsReadFromItsCounters) {
  ServerCgroup server(home_, "s");
  const auto use = server.use();
  ASSERT_TRUE(use.ok()) << use.error().message;
  EXPECT_DOUBLE_EQ(use.value().cpu_s, 2.5);
  EXPECT_DOUBLE_EQ(use.value().throttled_s, 1.25);
  EXPECT_FALSE(ServerCgroup(home_, "gone").use().ok());
}

TEST_F(VersionTwo, OnlyGroupsOfRunsThatAreNoMoreAreRemoved) {
  const std::string mine = server_name(new_owner_tag(), 0);
  const std::string left = server_name("000000000a0", 3);  // no process has the number 0
  for (const std::string& name :
       {mine, left, std::string("orrery-agent-3"), std::string("other")}) {
    std::filesystem::create_directory(tree_ / ("home/" + name));
  }
  remove_left_cgroups(home_);
  EXPECT_TRUE(std::filesystem::exists(tree_ / ("home/" + mine)));
  EXPECT_FALSE(std::filesystem::exists(tree_ / ("home/" + left)));
  EXPECT_TRUE(std::filesystem::exists(tree_ / "home/orrery-agent-3"));
  EXPECT_TRUE(std::filesystem::exists(tree_ / "home/other"));
}

TEST_F(VersionTwo, AGroupWithProcessesOfAnotherNamespaceIsLeftAlone) {
  const std::string left = server_name("000000000a0", 3);
  tree_.write("home/" + left + "/cgroup.procs", "0\n");
  remove_left_cgroups(home_);
  EXPECT_TRUE(std::filesystem::exists(tree_ / ("home/" + left)));
}

TEST(Owner, ATagIsItsProcesssAsLongAsThatRuns) {
  const std::string tag = new_owner_tag(), next = new_owner_tag();
  EXPECT_TRUE(is_owner_tag(tag)) << tag;
  EXPECT_NE(tag, next);
  EXPECT_TRUE(owner_runs(tag));
  std::string other = tag;
  other[9] = other[9] == 'z' ? 'y' : 'z';  // the same number, begun at another time
  EXPECT_FALSE(owner_runs(other));
  EXPECT_EQ(tag_of_server_name(server_name(tag, 17)), tag);
  for (const char* const name :
       {"orrery-", "orrery-short-1", "orrery-0123456789A-1", "eth0", "orrery-0123456789a",
        "orrery-0123456789a-", "orrery-0123456789a-x"}) {
    EXPECT_FALSE(tag_of_server_name(name)) << name;
  }
}

TEST(Owner, AProcessThatHasEndedHasNoStart) {
  Child child(spin);
  EXPECT_TRUE(start_while_alive(child.pid()));
  ::kill(child.pid(), SIGKILL);
  EXPECT_TRUE(becomes_true([&] { return !start_while_alive(child.pid()); }))
      << "no parent has waited";
}

}  // namespace
}  // namespace orrery
