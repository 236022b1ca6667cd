#include "training/mode_selection/scoring/score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "training/mode_selection/scoring/staleness_cost.h"
#include "training/sync/intervals.h"
#include "training/sync/ring_sum.h"

namespace orrery {
namespace {

constexpr double kBatch = 1024;

// Workers whose tasks take so long at equal batches, all of it computing.
std::vector<ScoreWorker> workers(const std::vector<double>& times_s) {
  std::vector<ScoreWorker> result;
  const double equal = kBatch / static_cast<double>(times_s.size());
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    result.push_back(
        {.worker = WorkerId(static_cast<int>(i)), .cost = {.per_sample_s = times_s[i] / equal}});
  }
  return result;
}

// Seven at 100 to 106 ms and one slower than the slowest of them by a factor: specs/star.md 2.5.
std::vector<double> one_slow(double factor) {
  return {0.100, 0.101, 0.102, 0.103, 0.104, 0.105, 0.106, 0.106 * factor};
}

ScoreSituation situation(const std::vector<ScoreWorker>& of, double lambda, double phi = 0) {
  return {.workers = of, .global_batch = kBatch, .lambda = lambda, .phi = phi};
}

const ScoredMode& best(const std::vector<ScoredMode>& all) {
  return *std::ranges::min_element(all, {}, &ScoredMode::time_s);
}
std::vector<ScoredMode> static_only(std::vector<ScoredMode> all) {
  std::erase_if(all, [](const ScoredMode& scored) {
    return scored.mode.rule != SyncRuleKind::Static || !scored.mode.shares.empty();
  });
  return all;
}

// The reference's score: interval * (1 + phi / samples an update), in ms.
double reference_score(const std::vector<double>& times_s, int x, double phi) {
  const Pace pace = static_pace(times_s, x);
  return 1000 * pace.interval_s * (1 + phi / (128.0 * x));
}

struct ReferenceRow {
  double phi, slow, asgd, ssgd;
};

TEST(Score, TheReferenceScoreIsAsPublishedAndAlwaysPicksAsgd) {
  for (const ReferenceRow& row :
       {ReferenceRow{1390, 1.0, 153, 250}, ReferenceRow{1390, 1.5, 160, 375},
        ReferenceRow{1390, 4.0, 169, 999}, ReferenceRow{699, 1.2, 85, 214},
        ReferenceRow{217, 2.0, 37, 257}, ReferenceRow{5067, 1.2, 535, 757}}) {
    const std::vector<double> times = one_slow(row.slow);
    EXPECT_NEAR(reference_score(times, 1, row.phi), row.asgd, 1);
    EXPECT_NEAR(reference_score(times, 8, row.phi), row.ssgd, 1);
    for (int x = 2; x <= 8; ++x) {
      EXPECT_GT(reference_score(times, x, row.phi), reference_score(times, 1, row.phi));
    }
  }
}

TEST(Score, WithTheStalenessTermAsgdWinsInNoneOfThe48Cases) {
  for (const double phi : {69., 136., 217., 699., 1390., 1508., 5067., 9400.}) {
    for (const double slow : {1.0, 1.2, 1.5, 2.0, 4.0, 10.0}) {
      const std::vector<ScoreWorker> of = workers(one_slow(slow));
      const auto all = score_modes(situation(of, kStalenessCostPrior, phi));
      const auto plain = static_only(all);
      EXPECT_NE(best(plain).mode.x, 1) << phi << " " << slow;
      EXPECT_NE(best(all).mode.x, 1) << phi << " " << slow;
      if (slow >= 1.5) {
        EXPECT_EQ(best(plain).mode.x, 7) << "those that do not straggle; " << phi << " " << slow;
      }
      const double to_beat = 0.85 * all.front().time_s;
      EXPECT_EQ(best(all).time_s<to_beat, slow> 1) << phi << " " << slow;
    }
  }
}

TEST(Score, WithoutTheTermAsgdWouldWinWhateverTheNoiseScale) {
  for (const double phi : {0., 1390., 9400.}) {
    const std::vector<ScoreWorker> of = workers(one_slow(4));
    EXPECT_EQ(best(static_only(score_modes(situation(of, 0, phi)))).mode.x, 1);
  }
}

TEST(Score, WithEqualWorkersNothingBeatsSsgd) {
  for (const auto architecture : {Architecture::ParameterServers, Architecture::AllReduce}) {
    for (const std::size_t n : {2u, 3u, 4u, 8u, 16u}) {
      const std::vector<ScoreWorker> of = workers(std::vector<double>(n, 0.1));
      for (const double lambda : {0.01, kStalenessCostPrior}) {
        ScoreSituation asked = situation(of, lambda);
        asked.architecture = architecture;
        asked.blocks = 4;
        const auto all = score_modes(asked);
        for (const ScoredMode& scored : all) {
          EXPECT_GE(scored.time_s, all.front().time_s * (1 - 1e-9)) << mode_name(scored.mode, 8);
        }
      }
    }
  }
}

TEST(Score, NoiseNeverAsksForMoreThanWeightsDo) {
  for (const double samples : {128., 512., 1024.}) {
    for (const double phi : {0., 100., 1e5}) {
      EXPECT_DOUBLE_EQ(needed_updates(samples, 1024, 0, 0.25, phi), 1024 / samples);
    }
  }
  EXPECT_DOUBLE_EQ(needed_updates(128, 1024, 7, 0.25, 500), 8 * 2.75);
}

TEST(Score, ASteadySlowProcessorIsBestMetBySmallerBatches) {
  const std::vector<ScoreWorker> of = workers(one_slow(4));
  const auto all = score_modes(situation(of, kStalenessCostPrior));
  const ScoredMode& winner = best(all);
  EXPECT_EQ(mode_name(winner.mode, 8), "lb-bsp");
  EXPECT_DOUBLE_EQ(winner.pace.staleness, 0);
  double sum = 0;
  for (const auto& [worker, share] : winner.mode.shares) sum += share;
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Score, ASlowLinkIsNotBecauseItsPartIsFixed) {
  std::vector<ScoreWorker> of = workers(std::vector<double>(8, 0.1));
  of[7].cost.fixed_s = 0.3;
  const auto all = score_modes(situation(of, kStalenessCostPrior));
  const ScoredMode& winner = best(all);
  EXPECT_LT(winner.time_s, 0.4 * all.front().time_s);
  EXPECT_EQ(winner.mode.x, 7);
}

TEST(Score, AllXAreTriedAndNotTheFirstLocalMinimum) {
  const std::vector<ScoreWorker> of = workers(one_slow(4));
  const auto all = static_only(score_modes(situation(of, 0.02)));
  ASSERT_EQ(all.size(), 8u);
  // x = 4 .. 6 waste throughput, so the score rises from both ends towards them.
  EXPECT_GT(all[4].time_s, all[1].time_s);
  EXPECT_GT(all[4].time_s, all[7].time_s);
}

TEST(Score, SharesCountByTheSamplesThatAreReallyUsed) {
  // Half the batch at a worker that is as fast as the others: it takes as long as SSGD of twice it.
  const std::vector<ScoreWorker> of = workers({0.1, 0.1});
  const Mode mode{.shares = {{WorkerId(0), 0.75}, {WorkerId(1), 0.25}}};
  const ScoredMode scored = score_mode(situation(of, 0.25), mode);
  EXPECT_NEAR(scored.pace.interval_s, 0.15, 1e-9);
  EXPECT_NEAR(scored.pace.samples_per_s, kBatch / 0.15, 1e-6);
  EXPECT_NEAR(scored.time_s, 0.15, 1e-9);
}

TEST(Score, InAllReduceTheSlowestHangOffTheRing) {
  std::vector<double> times = one_slow(4);
  times[2] = 0.5;
  const std::vector<ScoreWorker> of = workers(times);
  ScoreSituation asked = situation(of, kStalenessCostPrior);
  asked.architecture = Architecture::AllReduce;
  auto all = score_modes(asked);
  EXPECT_EQ(all.size(), 2u + 7);
  std::erase_if(all, [](const ScoredMode& scored) { return !scored.mode.shares.empty(); });
  const ScoredMode& winner = best(all);
  EXPECT_EQ(mode_name(winner.mode, 8), "ring-6+2");
  ASSERT_EQ(winner.mode.parents.size(), 2u);
  EXPECT_EQ(winner.mode.parents[0].first, WorkerId(2));
  EXPECT_EQ(winner.mode.parents[1].first, WorkerId(7));
  EXPECT_NE(winner.mode.parents[0].second, winner.mode.parents[1].second);
}

TEST(Score, ARingsSumIsAsSlowAsItsSlowestLinkAndChildrenHaveTheirWays) {
  std::vector<ScoreWorker> of = workers(std::vector<double>(4, 0.1));
  for (ScoreWorker& worker : of) worker.way_s = 0.02;
  of[3].way_s = 0.2;
  ScoreSituation asked = situation(of, 0);
  asked.architecture = Architecture::AllReduce;
  asked.message_s = 0.001;
  const Mode all{.rule = SyncRuleKind::Ring};
  EXPECT_NEAR(score_mode(asked, all).pace.interval_s, 0.1 + ring_sum_s(4, 0.2, 0.001), 1e-9);
  const Mode three = ring_of_fastest(asked, 3);
  ASSERT_EQ(three.parents.size(), 1u);
  EXPECT_EQ(three.parents[0].first, WorkerId(3));  // as fast as the others, but for its link
  const ScoredMode scored = score_mode(asked, three);
  // Its parent needs longer by what it does for it.
  const double interval = 0.1 + serving_s(0.001) + ring_sum_s(3, 0.02, 0.001);
  EXPECT_NEAR(scored.pace.interval_s, interval, 1e-9);
  // The child needs 0.1 and what it spends with its parent, and waits for the next update.
  const double child_s = 0.1 + child_wait_s(0.2, 0.1, 0.001);
  EXPECT_NEAR(scored.pace.gradients_per_s, (3 + 1 / std::ceil(child_s / interval)) / interval,
              0.02 / interval);
}

TEST(Score, AParentServesItsChildrenOneAfterTheOther) {
  std::vector<ScoreWorker> of = workers(std::vector<double>(8, 0.01));
  for (ScoreWorker& worker : of) worker.way_s = 0.02;
  ScoreSituation asked = situation(of, 0);
  asked.architecture = Architecture::AllReduce;
  const ScoredMode scored = score_mode(asked, ring_of_fastest(asked, 1));
  // Seven children, each once in 7 * 0.02 s; alone they would take 0.05 s.
  EXPECT_NEAR(scored.pace.gradients_per_s, 1 / 0.01 + 7 / 0.14, 3);
  asked.message_s = 0.005;  // itself the parent needs 0.08 s then, its children 0.21
  const ScoredMode slower = score_mode(asked, ring_of_fastest(asked, 1));
  EXPECT_NEAR(slower.pace.gradients_per_s, 1 / 0.08 + 7 / 0.21, 1);
}

TEST(Score, ARingIsFarSlowerThanAnotherNotByChance) {
  const auto far_slower = [](const std::vector<double>& times, double way_s) {
    std::vector<ScoreWorker> of = workers(times);
    of[0].way_s = way_s;
    return is_far_slower_ring(situation(of, 0), std::array{WorkerId(0)}, std::array{WorkerId(1)});
  };
  EXPECT_TRUE(far_slower({0.4, 0.1, 0.1, 0.1, 0.3}, 0));
  EXPECT_TRUE(far_slower({0.1, 0.1, 0.1, 0.1, 0.1}, 0.1)) << "by its link";
  EXPECT_FALSE(far_slower({0.14, 0.1, 0.1, 0.1, 0.1}, 0));
  EXPECT_FALSE(far_slower({0.1, 0.06, 0.09, 0.1, 0.1}, 0)) << "the other is fast";
  EXPECT_FALSE(far_slower({0.4, 0.4, 0.1, 0.1, 0.1}, 0)) << "the other is no better";
}

TEST(Score, ManyWorkersDoNotMeanManyMoreCandidates) {
  std::vector<double> times(500, 0.1);
  for (int i = 0; i < 30; ++i) times[static_cast<std::size_t>(i)] = 0.4;
  std::vector<ScoreWorker> of = workers(times);
  for (int i = 0; i < 30; ++i) of[static_cast<std::size_t>(i)].straggles = true;
  const auto all = score_modes(situation(of, kStalenessCostPrior));
  EXPECT_LT(all.size(), 90u);
  EXPECT_TRUE(std::ranges::any_of(all, [](const auto& scored) { return scored.mode.x == 470; }));
}

TEST(Score, FamiliesDifferInMoreThanShares) {
  const Mode a{.x = 7, .shares = {{WorkerId(0), 0.5}}};
  const Mode b{.x = 7, .shares = {{WorkerId(0), 0.7}}};
  EXPECT_TRUE(same_family(a, b));
  EXPECT_FALSE(same_family(a, {.x = 7}));
  EXPECT_FALSE(same_family({.x = 6}, {.x = 7}));
}

}  // namespace
}  // namespace orrery
