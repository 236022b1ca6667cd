#include "live/job_runner/cpu_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"

namespace orrery {
namespace {

using Cpus = std::vector<int>;

TEST(CpuSets, TheNodeWithTheFewestFreeCpusThatFitsIsChosen) {
  CpuSets sets({{0, 1, 2, 3}, {4, 5, 6}, {7, 8}});
  EXPECT_EQ(sets.take(2), (Cpus{7, 8}));
  EXPECT_EQ(sets.take(2), (Cpus{4, 5}));
  EXPECT_EQ(sets.take(4), (Cpus{0, 1, 2, 3}));
  EXPECT_EQ(sets.take(2), std::nullopt);
  EXPECT_EQ(sets.take(1), Cpus{6});
}

TEST(CpuSets, WhatFitsOnNoNodeIsCollectedFromTheSmallestOn) {
  CpuSets sets({{0, 1, 2, 3}, {4, 5, 6}, {7, 8}});
  EXPECT_EQ(sets.take(6), (Cpus{0, 4, 5, 6, 7, 8}));
  EXPECT_EQ(sets.free(), (std::vector<Cpus>{{1, 2, 3}, {}, {}}));
}

TEST(CpuSets, FreedCpusComeBackSorted) {
  CpuSets sets({{0, 1, 2, 3}});
  ASSERT_TRUE(sets.take(4));
  sets.give_back({3, 1});
  sets.give_back({0, 2});
  EXPECT_EQ(sets.free().front(), (Cpus{0, 1, 2, 3}));
}

TEST(CpuSets, WhatARunningJobHoldsIsClaimedOnceAndWhole) {
  CpuSets sets({{0, 1}, {2, 3}});
  EXPECT_TRUE(sets.claim({1, 2}).ok());
  const Status again = sets.claim({0, 2});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::AlreadyExists);
  EXPECT_FALSE(sets.claim({0, 0}).ok());
  EXPECT_FALSE(sets.claim({4}).ok());
  EXPECT_EQ(sets.take(2), (Cpus{0, 3})) << "a refused claim takes nothing";
}

TEST(CpuSets, LawNoCpuIsHandedOutTwiceAndNoneIsLost) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Cpus> nodes(static_cast<std::size_t>(random.between(1, 4)));
    int total = 0;
    for (Cpus& node : nodes) {
      for (auto left = random.between(1, 16); left > 0; --left) node.push_back(total++);
    }
    CpuSets sets(nodes);
    std::vector<Cpus> held;
    std::set<int> taken;
    for (int step = 0; step < 300; ++step) {
      if (random.between(0, 1) == 0 && !held.empty()) {
        const auto at = random.between(0, static_cast<std::int64_t>(held.size()) - 1);
        for (const int cpu : held[static_cast<std::size_t>(at)]) taken.erase(cpu);
        sets.give_back(held[static_cast<std::size_t>(at)]);
        held.erase(held.begin() + at);
      } else {
        const auto count = static_cast<int>(random.between(0, 12));
        const bool on_one_node =
            std::any_of(sets.free().begin(), sets.free().end(),
                        [&](const Cpus& free) { return static_cast<int>(free.size()) >= count; });
        const int before = sets.free_count();
        const auto got = sets.take(count);
        ASSERT_EQ(got.has_value(), count <= before);
        if (!got) continue;
        ASSERT_EQ(static_cast<int>(got->size()), count);
        ASSERT_TRUE(std::is_sorted(got->begin(), got->end()));
        for (const int cpu : *got) ASSERT_TRUE(taken.insert(cpu).second) << cpu;
        const auto homes = std::count_if(nodes.begin(), nodes.end(), [&](const Cpus& node) {
          return std::any_of(got->begin(), got->end(), [&](int cpu) {
            return std::binary_search(node.begin(), node.end(), cpu);
          });
        });
        if (on_one_node) {
          ASSERT_LE(homes, 1);
        }
        held.push_back(*got);
      }
      ASSERT_EQ(sets.free_count() + static_cast<int>(taken.size()), total);
    }
  }
}

TEST(CpuList, IsReadAndWrittenAsTheKernelDoes) {
  EXPECT_EQ(read_cpu_list("0-3,8,6-6\n").value(), (Cpus{0, 1, 2, 3, 6, 8}));
  EXPECT_TRUE(read_cpu_list("\n").value().empty());
  EXPECT_EQ(cpu_list_text({0, 1, 2, 3, 6, 8}), "0-3,6,8");
  for (const char* const bad : {"3-1", "a", "1-", "-1", "0,,1", "99999999"}) {
    EXPECT_FALSE(read_cpu_list(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace orrery
