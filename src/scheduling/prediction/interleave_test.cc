#include "scheduling/prediction/interleave.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"

namespace orrery {
namespace {

StageProfile muri(double data, double gpu, double network) {
  return {{data, gpu, network}, {2, 1, 1}};
}

Interleaving of(const std::vector<StageProfile>& profiles, Ordering ordering) {
  std::vector<const StageProfile*> members;
  for (const StageProfile& profile : profiles) members.push_back(&profile);
  return interleave(members, ordering);
}

// The recurrence of the specification, written out for its one shape.
double recurrence(const std::vector<StageProfile>& at) {
  std::array<double, 9> f{};
  const int jobs = static_cast<int>(at.size());
  for (int i = 0; i < 8; ++i) {
    if ((i + 1) % 4 < jobs) f[i + 1] = std::max(f[i + 1], f[i] + at[(i + 1) % 4].stage_s[2]);
    if ((i + 2) % 4 < jobs) f[i + 1] = std::max(f[i + 1], f[i] + at[(i + 2) % 4].stage_s[1]);
    if (i >= 1 && (i + 3) % 4 < jobs) {
      f[i + 1] = std::max(f[i + 1], f[i - 1] + at[(i + 3) % 4].stage_s[0]);
    }
    if (i < 4) continue;
    const double now = f[i + 1] - f[i - 3];
    const double before = f[i] - f[i - 4];
    if (std::abs(now - before) <= 1e-3 * std::max(std::abs(now), std::abs(before))) return now;
  }
  return f[8] - f[4];
}

StageProfile random_muri(Random& random) {
  const auto stage = [&] { return random.uniform() < 0.2 ? 0.0005 : random.uniform(); };
  return muri(stage(), stage(), stage());
}

TEST(Interleave, FollowsMurisRecurrenceAsGiven) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    std::vector<StageProfile> group;
    for (std::int64_t k = random.between(2, 4); k > 0; --k) group.push_back(random_muri(random));
    const Interleaving result = of(group, Ordering::AsGiven);
    EXPECT_EQ(result.cycle_s, recurrence(group)) << "seed " << seed;
    for (int i = 0; i < std::ssize(group); ++i) EXPECT_EQ(result.positions[i], i);
  }
}

TEST(Interleave, TakesTheBestOrWorstOfAllOrders) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    std::vector<StageProfile> group;
    for (std::int64_t k = random.between(3, 4); k > 0; --k) group.push_back(random_muri(random));
    std::vector<int> order{0, 1, 2, 3};
    order.resize(group.size());
    double best = 1e9, worst = 0;
    do {
      std::vector<StageProfile> at;
      for (const int member : order) at.push_back(group[member]);
      best = std::min(best, recurrence(at));
      worst = std::max(worst, recurrence(at));
    } while (std::ranges::next_permutation(order).found);
    for (const auto& [ordering, expected] :
         {std::pair(Ordering::Best, best), std::pair(Ordering::Worst, worst)}) {
      const Interleaving result = of(group, ordering);
      EXPECT_EQ(result.cycle_s, expected) << "seed " << seed;
      std::vector<StageProfile> seated(group.size());
      for (std::size_t i = 0; i < group.size(); ++i) seated[result.positions[i]] = group[i];
      EXPECT_EQ(recurrence(seated), expected) << "seed " << seed;
    }
  }
}

TEST(Interleave, SeatsAPairOppositeEachOtherWhenThatIsShorter) {
  // Each job's 5 s of data fit beside the other's 3 + 2 s of GPU and network.
  const Interleaving result = of({muri(5, 3, 2), muri(5, 3, 2)}, Ordering::Best);
  EXPECT_DOUBLE_EQ(result.cycle_s, 10);
  EXPECT_EQ(result.positions, (std::vector<int>{0, 2}));
  EXPECT_GT(of({muri(5, 3, 2), muri(5, 3, 2)}, Ordering::AsGiven).cycle_s, 10);
}

TEST(Interleave, CountsTheOppositeSeatsAmongTheWorst) {
  const std::vector<StageProfile> pair{muri(9, 1, 0), muri(0.5, 0.1, 0.1)};
  const double opposite = std::max(9.0, 0.2) + std::max(0.5, 1.0);
  const double worst =
      std::max({opposite, recurrence({pair[0], pair[1]}), recurrence({pair[1], pair[0]})});
  EXPECT_EQ(of(pair, Ordering::Worst).cycle_s, worst);
}

TEST(Interleave, PrefersTheFirstOrderAmongEquals) {
  const std::vector<StageProfile> same(4, muri(1, 1, 1));
  EXPECT_EQ(of(same, Ordering::Best).positions, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(of(same, Ordering::Worst).positions, (std::vector<int>{0, 1, 2, 3}));
}

TEST(Interleave, AddsTheLongestOfEachSlotWhenStagesTakeOne) {
  const std::vector<StageProfile> group{{{1, 2, 3, 4}, {1, 1, 1, 1}}, {{4, 3, 2, 1}, {1, 1, 1, 1}}};
  // Slots: (1, 1) (2, 4) (3, 3) (4, 2).
  EXPECT_DOUBLE_EQ(of(group, Ordering::AsGiven).cycle_s, 1 + 4 + 3 + 4);
}

TEST(Interleave, LetsAJobAloneTakeTheSumOfItsStages) {
  EXPECT_DOUBLE_EQ(of({{{1, 2, 3}, {1, 1, 1}}}, Ordering::Best).cycle_s, 6);
  EXPECT_DOUBLE_EQ(of({{{1, 2, 3}, {2, 3, 2}}}, Ordering::Best).cycle_s, 6);
}

TEST(Interleave, MakesStagesOfSeveralSlotsWaitForEachOther) {
  // The slower job sets the pace from either seat.
  const StageProfile fast{{4, 2}, {3, 3}};
  const StageProfile slow{{3, 5}, {3, 3}};
  EXPECT_DOUBLE_EQ(of({slow, fast}, Ordering::AsGiven).cycle_s, 8);
  EXPECT_DOUBLE_EQ(of({fast, slow}, Ordering::AsGiven).cycle_s, 8);
}

TEST(Interleave, ScalesWithTime) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::vector<StageProfile> group, doubled;
    for (std::int64_t k = random.between(1, 5); k > 0; --k) {
      StageProfile profile{{}, {1, 2, 1, 3}};
      for (int i = 0; i < 4; ++i) profile.stage_s.push_back(random.uniform());
      group.push_back(profile);
      for (double& seconds : profile.stage_s) seconds *= 2;
      doubled.push_back(profile);
    }
    EXPECT_DOUBLE_EQ(of(doubled, Ordering::Best).cycle_s, 2 * of(group, Ordering::Best).cycle_s);
    EXPECT_LE(of(group, Ordering::Best).cycle_s, of(group, Ordering::AsGiven).cycle_s);
    EXPECT_LE(of(group, Ordering::AsGiven).cycle_s, of(group, Ordering::Worst).cycle_s);
  }
}

TEST(Interleave, SeatsManyMembersAtDifferentPositions) {
  Random random(3);
  std::vector<StageProfile> group(10);
  for (StageProfile& profile : group) {
    profile.slots.assign(12, 1);
    for (int i = 0; i < 12; ++i) profile.stage_s.push_back(random.uniform());
  }
  const Interleaving best = of(group, Ordering::Best);
  EXPECT_LE(best.cycle_s, of(group, Ordering::AsGiven).cycle_s);
  EXPECT_LT(best.cycle_s, of(group, Ordering::Worst).cycle_s);
  std::vector<int> seats = best.positions;
  std::ranges::sort(seats);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(seats[i], i);
}

}  // namespace
}  // namespace orrery
