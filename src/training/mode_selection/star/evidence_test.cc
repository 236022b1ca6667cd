#include "training/mode_selection/star/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace orrery {
namespace {

// Four workers with tasks of 0.1 s for 16 samples; the last one takes four times as long.
class StarEvidenceTest : public testing::Test {
 protected:
  StarEvidenceTest() {
    join(4);
    for (int round = 1; round <= 10; ++round) {
      for (const WorkerId worker : workers_) add(worker, round);
    }
    // A worker must be slow in two looks.
    for (int look = 0; look < 2; ++look) evidence_.forecast().predict(now_, {});
  }
  void join(int count) {
    workers_.clear();
    for (int i = 0; i < count; ++i) workers_.push_back(WorkerId{i});
    now_.workers = workers_;
    evidence_.members_changed(now_);
  }
  void add(WorkerId worker, int round) {
    evidence_.add({.worker = worker,
                   .at = Time(std::chrono::seconds(round)),
                   .took = from_seconds(worker == WorkerId{3} ? 0.4 : 0.1),
                   .samples = 16,
                   .loss = 1,
                   .usage = {.cpu_share = 1}},
                  {});
  }

  StarOptions options_{};
  StarEvidence evidence_{options_, {}};
  std::vector<WorkerId> workers_{};
  Situation now_{.global_batch = 64, .rate = 0.1};
};

TEST_F(StarEvidenceTest, AModeThatDoesNotWaitForTheSlowWorkerScoresBetter) {
  const auto stragglers = evidence_.forecast().stragglers();
  EXPECT_TRUE(std::ranges::equal(stragglers, std::vector<WorkerId>{WorkerId{3}}));
  const ScoredMode ssgd = evidence_.predicted_score(now_, {});
  EXPECT_NEAR(ssgd.pace.interval_s, 0.4, 0.01);
  EXPECT_LT(evidence_.predicted_score(now_, {.x = 3}).time_s, 0.6 * ssgd.time_s);
  EXPECT_EQ(evidence_.predicted_scores(now_).front().time_s, ssgd.time_s) << "SSGD is the first";
}

TEST_F(StarEvidenceTest, AWorkerThatLeftIsNoStraggler) {
  join(3);
  evidence_.forecast().predict(now_, {});
  EXPECT_TRUE(evidence_.forecast().stragglers().empty());
  EXPECT_NEAR(evidence_.predicted_score(now_, {}).pace.interval_s, 0.1 * 64 / 48, 0.02);
}

TEST_F(StarEvidenceTest, ARealPaceBelowThePredictedOneMakesTheModeScoreWorse) {
  const ScoredMode predicted = evidence_.predicted_score(now_, {});
  for (int i = 0; i < 50; ++i) {
    evidence_.add_pace(predicted, 0.5 * predicted.pace.samples_per_s, 1);
  }
  ScoredMode corrected = predicted;
  evidence_.correct(corrected, {});
  EXPECT_NEAR(corrected.time_s, 2 * predicted.time_s, 0.1 * predicted.time_s);
  join(4);
  corrected = predicted;
  evidence_.correct(corrected, {});
  EXPECT_EQ(corrected.time_s, predicted.time_s) << "it was learned with other members";
}

TEST_F(StarEvidenceTest, FeaturesCompareAModeWithSsgd) {
  const ScoredMode ssgd = evidence_.predicted_score(now_, {});
  const ScoredMode looser = evidence_.predicted_score(now_, {.x = 3});
  const ModeFeatures features = evidence_.features(looser, ssgd, now_);
  EXPECT_EQ(features.kind, kind_number(SyncRuleKind::Static));
  EXPECT_NEAR(features.x_share, 0.75, 0.01);
  EXPECT_NEAR(features.gradients_ratio, looser.pace.samples_per_s / ssgd.pace.samples_per_s, 1e-12);
  EXPECT_NEAR(features.straggling, 0.4 / 0.175 - 1, 0.05);
  EXPECT_EQ(features.rate, 0.1);
  EXPECT_EQ(features.phase, 1);
  EXPECT_EQ(evidence_.features(ssgd, ssgd, now_).gradients_ratio, 1);
}

}  // namespace
}  // namespace orrery
