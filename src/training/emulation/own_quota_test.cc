#include "training/emulation/own_quota.h"

#include <gtest/gtest.h>

#include "training/emulation/test_processes.h"

namespace orrery {
namespace {

// The cgroup with the cpu controller that a process is in.
std::string cgroup_of(pid_t pid) {
  const auto tree = find_cgroups("/proc/" + std::to_string(pid));
  return tree.ok() ? tree.value().cpu : std::string();
}

TEST(OwnQuota, HoldsUntilItsProcessEndsOrIsKilled) {
  const std::string before = cgroup_of(::getpid());
  const ScratchFolder folder;
  Child child([&folder] {
    const auto quota = OwnQuota::take(0.5);
    folder.write("taken", quota.ok() ? "yes" : quota.error().message);
    if (quota.ok()) let_pass(100);
  });
  ASSERT_TRUE(becomes_true([&folder] { return !read_word(folder / "taken").empty(); }));
  if (read_word(folder / "taken") != "yes") GTEST_SKIP() << read_word(folder / "taken");
  const std::string limited = cgroup_of(child.pid());
  EXPECT_NE(limited, before);
  const bool one = std::filesystem::exists(limited + "/cpu.cfs_quota_us");
  EXPECT_EQ(read_word(limited + (one ? "/cpu.cfs_quota_us" : "/cpu.max")),
            one ? "5000" : "5000 10000");
  child.kill();
  remove_left_quotas();
  EXPECT_FALSE(std::filesystem::exists(limited));
  EXPECT_EQ(cgroup_of(::getpid()), before);
}

}  // namespace
}  // namespace orrery
