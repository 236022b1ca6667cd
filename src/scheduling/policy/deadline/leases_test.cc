#include "scheduling/policy/deadline/leases.h"

#include <gtest/gtest.h>

#include <bit>

#include "base/random.h"

namespace orrery {
namespace {

using Packed = std::optional<std::vector<Leases>>;

// GPUs in use in lease 0, after checking that every deadline and every lease is respected.
int checked_first(const std::vector<LeaseDemand>& demands, int gpus, const Packed& packed) {
  EXPECT_TRUE(packed.has_value());
  if (!packed) return -1;
  std::vector<int> used(64);
  int first = 0;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    EXPECT_EQ((*packed)[i].size(), static_cast<std::size_t>(demands[i].needed));
    int before = -1;
    for (const int lease : (*packed)[i]) {
      EXPECT_GT(lease, before);
      EXPECT_LT(lease, demands[i].last);
      used[static_cast<std::size_t>(lease)] += demands[i].gpus;
      first += lease == 0 ? demands[i].gpus : 0;
      before = lease;
    }
  }
  for (const int sum : used) EXPECT_LE(sum, gpus);
  return first;
}

TEST(Leases, AJobAloneGetsTheLastLeasesBeforeItsDeadline) {
  const std::vector<LeaseDemand> demands = {{.gpus = 2, .needed = 2, .last = 5}};
  EXPECT_EQ(pack_late(demands, 4), (std::vector<Leases>{{3, 4}}));
}

TEST(Leases, WideJobsChooseFirst) {
  const std::vector<LeaseDemand> demands = {{.gpus = 2, .needed = 1, .last = 2},
                                            {.gpus = 4, .needed = 1, .last = 2}};
  EXPECT_EQ(pack_late(demands, 4), (std::vector<Leases>{{0}, {1}}));
}

TEST(Leases, NotEnoughBeforeTheDeadlineIsNoPacking) {
  const std::vector<LeaseDemand> demands = {{.gpus = 1, .needed = 3, .last = 2}};
  EXPECT_EQ(pack_late(demands, 4), std::nullopt);
  EXPECT_EQ(pack_best(demands, 4, FirstLease::Any), std::nullopt);
}

// Both wide jobs go to the last lease, which the narrow one needs as well as the first.
TEST(Leases, TheSearchFindsWhatLatestFirstDoesNot) {
  const std::vector<LeaseDemand> demands = {{.gpus = 2, .needed = 1, .last = 2},
                                            {.gpus = 2, .needed = 1, .last = 2},
                                            {.gpus = 1, .needed = 2, .last = 2}};
  EXPECT_EQ(pack_late(demands, 4), std::nullopt);
  EXPECT_EQ(checked_first(demands, 4, pack_best(demands, 4, FirstLease::Any)), 3);
}

TEST(Leases, TheFirstLeaseIsBusyOrIdleAsWanted) {
  const std::vector<LeaseDemand> demands = {{.gpus = 2, .needed = 1, .last = 3},
                                            {.gpus = 1, .needed = 1, .last = 3},
                                            {.gpus = 4, .needed = 1, .last = 1}};
  EXPECT_EQ(checked_first(demands, 4, pack_best(demands, 4, FirstLease::Idlest)), 4)
      << "the widest has no other lease";
  const std::vector<LeaseDemand> loose = {{.gpus = 2, .needed = 1, .last = 3},
                                          {.gpus = 1, .needed = 3, .last = 3}};
  EXPECT_EQ(checked_first(loose, 4, pack_best(loose, 4, FirstLease::Busiest)), 3);
  EXPECT_EQ(checked_first(loose, 4, pack_best(loose, 4, FirstLease::Idlest)), 1);
}

TEST(Leases, OfTwoAlikeTheOneThatRunsGoesOn) {
  std::vector<LeaseDemand> demands(2, {.gpus = 4, .needed = 1, .last = 2});
  demands[1].runs = true;
  EXPECT_EQ(pack_best(demands, 4, FirstLease::Busiest), (std::vector<Leases>{{1}, {0}}));
  EXPECT_EQ(pack_best(demands, 4, FirstLease::Idlest), (std::vector<Leases>{{1}, {0}}));
}

// Every way to choose leases, on cases small enough.
class Oracle {
 public:
  Oracle(const std::vector<LeaseDemand>& demands, int gpus) : demands_(demands), used_(8) {
    gpus_ = gpus;
    descend(0, 0);
  }
  bool any = false;
  int busiest = 0;
  int idlest = 1 << 20;

 private:
  void descend(std::size_t job, int first) {
    if (job == demands_.size()) {
      any = true;
      busiest = std::max(busiest, first);
      idlest = std::min(idlest, first);
      return;
    }
    const LeaseDemand& demand = demands_[job];
    for (unsigned chosen = 0; chosen < (1U << demand.last); ++chosen) {
      if (std::popcount(chosen) != demand.needed) continue;
      bool fits = true;
      for (std::size_t lease = 0; lease < used_.size(); ++lease) {
        if ((chosen >> lease & 1U) == 0) continue;
        used_[lease] += demand.gpus;
        fits = fits && used_[lease] <= gpus_;
      }
      if (fits) descend(job + 1, first + ((chosen & 1U) != 0 ? demand.gpus : 0));
      for (std::size_t lease = 0; lease < used_.size(); ++lease) {
        if ((chosen >> lease & 1U) != 0) used_[lease] -= demand.gpus;
      }
    }
  }
  const std::vector<LeaseDemand>& demands_;
  std::vector<int> used_;
  int gpus_ = 0;
};

TEST(Leases, TheSearchIsAsGoodAsTryingEverything) {
  Random random(8);
  int feasible = 0;
  int late_enough = 0;
  for (int round = 0; round < 700; ++round) {
    std::vector<LeaseDemand> demands;
    for (int i = 0; i < 4; ++i) {
      const int last = static_cast<int>(random.between(1, 4));
      demands.push_back({.gpus = round % 2 == 0 ? 1 << random.between(0, 2)
                                                : static_cast<int>(random.between(1, 4)),
                         .needed = static_cast<int>(random.between(1, last)),
                         .last = last});
    }
    const Oracle oracle(demands, 4);
    late_enough += pack_late(demands, 4).has_value() ? 1 : 0;
    const Packed any = pack_best(demands, 4, FirstLease::Any);
    ASSERT_EQ(any.has_value(), oracle.any) << "round " << round;
    if (!oracle.any) continue;
    ++feasible;
    checked_first(demands, 4, any);
    EXPECT_EQ(checked_first(demands, 4, pack_best(demands, 4, FirstLease::Busiest)),
              oracle.busiest);
    EXPECT_EQ(checked_first(demands, 4, pack_best(demands, 4, FirstLease::Idlest)), oracle.idlest);
  }
  EXPECT_GT(feasible, 100);
  EXPECT_LT(late_enough, feasible) << "else the search is never needed";
}

}  // namespace
}  // namespace orrery
