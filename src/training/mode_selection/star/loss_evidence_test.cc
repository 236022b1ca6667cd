#include "training/mode_selection/star/loss_evidence.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

class LossEvidenceTest : public testing::Test {
 protected:
  // Gradients of 32 samples, ten a second, whose loss falls by `fall` with each.
  std::vector<SelectorSample> gradients(int count, double fall) {
    std::vector<SelectorSample> samples;
    for (int i = 0; i < count; ++i) {
      now_ += std::chrono::milliseconds(100);
      loss_ *= 1 - fall;
      const auto sample = evidence_.add({.at = now_, .samples = 32, .loss = loss_});
      if (sample) samples.push_back(*sample);
    }
    return samples;
  }
  void describe() { evidence_.describe_present({.kind = 4}, 0.5, now_); }

  LossEvidence evidence_{{}, {}, std::chrono::seconds(1)};
  Time now_{};
  double loss_ = 2;
};

TEST_F(LossEvidenceTest, AWindowOfADescribedModeIsASample) {
  EXPECT_TRUE(gradients(60, 0.001).empty()) << "no mode was described";
  describe();
  const std::vector<SelectorSample> samples = gradients(200, 0.001);
  ASSERT_GE(samples.size(), 3u);
  EXPECT_EQ(samples.front().features.kind, 4);
  // Ten gradients a second, each by a thousandth, over the half second of an SSGD batch.
  EXPECT_NEAR(samples.front().loss_drop, 0.005, 0.0005);
  EXPECT_EQ(samples.front().ssgd_batch_s, 0.5);
  EXPECT_LT(samples.back().features.phase, samples.front().features.phase);
  EXPECT_NEAR(evidence_.phase(), samples.back().features.phase, 1e-12);
}

TEST_F(LossEvidenceTest, AnotherModeMustBeDescribedFirst) {
  describe();
  EXPECT_FALSE(gradients(60, 0.001).empty());
  evidence_.mode_changed(0);
  EXPECT_TRUE(evidence_.is_description_due(now_));
  EXPECT_TRUE(gradients(60, 0.001).empty());
}

TEST_F(LossEvidenceTest, ADescriptionHoldsForTheLeastTime) {
  EXPECT_TRUE(evidence_.is_description_due(now_));
  describe();
  EXPECT_FALSE(evidence_.is_description_due(now_ + std::chrono::milliseconds(999)));
  EXPECT_TRUE(evidence_.is_description_due(now_ + std::chrono::seconds(1)));
}

TEST_F(LossEvidenceTest, AWindowHasOneLearningRate) {
  EXPECT_TRUE(evidence_.is_other_rate(0.1));
  EXPECT_FALSE(evidence_.set_rate(0.1));
  EXPECT_FALSE(evidence_.is_other_rate(0.10001));
  describe();
  EXPECT_TRUE(gradients(39, 0.001).empty()) << "one less than a window needs";
  EXPECT_TRUE(evidence_.is_other_rate(0.01));
  evidence_.set_rate(0.01);
  EXPECT_TRUE(gradients(39, 0.001).empty());
  EXPECT_EQ(gradients(1, 0.001).size(), 1u);
}

TEST_F(LossEvidenceTest, ALossThatIsNoNumberIsNoSample) {
  describe();
  loss_ = std::nan("");
  EXPECT_TRUE(gradients(200, 0.001).empty());
}

}  // namespace
}  // namespace orrery
