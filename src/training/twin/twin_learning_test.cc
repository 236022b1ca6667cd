#include "training/twin/twin_learning.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

class TwinLearningTest : public testing::Test {
 protected:
  TwinLearningTest() {
    setup_.conductor.global_batch = 64;
    counts_.gradients_of.resize(2);
  }
  // An update of whole weight from one task that was computed on the version `read`.
  void apply(ParameterVersion version, ParameterVersion read, int worker = 0) {
    ApplyUpdate order;
    order.update = {.version = version, .rate = 0.1, .terms = {{.task = version, .weight = 1}}};
    order.tasks = {{.worker = WorkerId{worker}, .version = read, .samples = {.count = 64}}};
    learning_.apply(order, Time(std::chrono::seconds(version)), counts_);
  }

  TwinSetup setup_{};
  TwinLearning learning_{setup_};
  TwinResult counts_{};
};

TEST_F(TwinLearningTest, AnUpdateBringsItsSamples) {
  apply(1, 0);
  apply(2, 1, 1);
  EXPECT_EQ(learning_.samples(), 128);
  EXPECT_EQ(counts_.gradients_of, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(counts_.max_staleness, 0);
  EXPECT_EQ(learning_.newest().version, 2);
  EXPECT_EQ(learning_.newest().fresh_samples, 64);
}

TEST_F(TwinLearningTest, AStaleGradientBringsLessAndIsNotFresh) {
  apply(1, 0);
  const double after_one = learning_.evaluate(Time{}).loss;
  apply(2, 1);
  const double after_fresh = learning_.evaluate(Time{}).loss;
  apply(3, 0);
  const double after_stale = learning_.evaluate(Time{}).loss;
  EXPECT_LT(after_stale, after_fresh);
  EXPECT_LT(after_fresh - after_stale, 0.8 * (after_one - after_fresh));
  EXPECT_EQ(learning_.newest().fresh, 0);
  EXPECT_EQ(counts_.max_staleness, 2);
  Gradient gradient{.samples = 64};
  learning_.describe(gradient, {.version = 3});
  EXPECT_EQ(gradient.loss, after_stale);
  EXPECT_DOUBLE_EQ(gradient.norm2, gradient.norm2_validation) << "of as many samples";
}

TEST_F(TwinLearningTest, AnEvaluationHasTheStalenessSinceTheOneBefore) {
  apply(1, 0);
  apply(2, 0);
  EXPECT_EQ(learning_.evaluate(Time{}).staleness, 0.5);
  EXPECT_EQ(learning_.evaluate(Time{}).staleness, 0);
  apply(3, 0);
  const TwinPoint point = learning_.evaluate(Time(std::chrono::seconds(9)));
  EXPECT_EQ(point.staleness, 2);
  EXPECT_EQ(point.time_s, 9);
  EXPECT_EQ(point.samples, 192);
}

}  // namespace
}  // namespace orrery
