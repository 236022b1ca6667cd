#include "scheduling/prediction/goodput.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

StepModel known_model(double overlap) {
  return {.compute = 0.02,
          .compute_each = 0.001,
          .local = 0.01,
          .local_each = 0.002,
          .network = 0.1,
          .network_each = 0.004,
          .overlap = overlap};
}

std::vector<StepTime> measurements_of(const StepModel& model) {
  std::vector<StepTime> measured;
  for (const int replicas : {1, 2, 3, 4, 8, 16}) {
    const int nodes = (replicas + 3) / 4;
    for (const int local : {16, 32, 64, 128}) {
      const double step_s = model.step_s(nodes, replicas, local);
      measured.push_back({nodes, replicas, local, step_s, step_s - model.compute_s(local)});
    }
  }
  return measured;
}

TEST(StepModel, WithoutOverlapTimesAddUp) {
  const StepModel model = known_model(1);
  EXPECT_DOUBLE_EQ(model.step_s(1, 1, 100), 0.12);
  EXPECT_DOUBLE_EQ(model.step_s(1, 4, 100), 0.12 + 0.01 + 2 * 0.002);
  EXPECT_DOUBLE_EQ(model.step_s(2, 8, 100), 0.12 + 0.1 + 6 * 0.004);
}

TEST(StepModel, TheFitFindsWhatTheMeasurementsWereMadeFrom) {
  for (const double overlap : {1.0, 2.0, 3.5}) {
    const StepModel model = known_model(overlap);
    const auto measured = measurements_of(model);
    const StepModel fitted = fit_step_model(measured);
    EXPECT_LT(log_error(fitted, measured), 1e-9) << overlap;
    EXPECT_NEAR(fitted.overlap, overlap, 1e-9);
    EXPECT_NEAR(fitted.network_each, model.network_each, 1e-9);
  }
}

TEST(StepModel, OneMeasurementIsFittedExactly) {
  const std::vector<StepTime> measured = {{1, 1, 32, 0.5, 0}};
  EXPECT_LT(log_error(fit_step_model(measured), measured), 1e-9);
}

// Batches of 10 to 160 and no cost of exchange: only noise limits the batch.
Goodput noisy(double variance) {
  std::map<int, std::vector<Goodput::Epoch>> epochs;
  for (const int batch : {10, 40, 160}) {
    epochs[batch] = {{100, {1, variance}}, {200, {1, 4 * variance}}};
  }
  return {{.compute = 1, .compute_each = 0.01}, {.local_min = 5, .local_max = 40}, epochs};
}

TEST(Goodput, ALargerBatchIsWorthMoreTheMoreNoiseThereIs) {
  EXPECT_DOUBLE_EQ(noisy(3).worth(10, 0), 1);
  EXPECT_DOUBLE_EQ(noisy(3).worth(40, 0), (3 + 1) / (3.0 / 4 + 1));
  EXPECT_NEAR(noisy(1e9).worth(40, 0), 4, 1e-6);
  EXPECT_NEAR(noisy(1e-9).worth(40, 0), 1, 1e-6);
}

TEST(Goodput, NoiseIsThatOfTheEpoch) {
  const Goodput goodput = noisy(3);
  EXPECT_EQ(goodput.epoch_at(10, 0.49), 0U);
  EXPECT_EQ(goodput.epoch_at(10, 0.51), 1U);
  EXPECT_EQ(goodput.epoch_at(10, 1), 1U);
  EXPECT_GT(goodput.worth(40, 1), goodput.worth(40, 0));
}

TEST(Goodput, WithoutNoiseTheSmallestBatchIsBest) {
  const auto choice = noisy(1e-9).best(1, 2, 10, 0);
  EXPECT_DOUBLE_EQ(choice.batch, 10);
  // Two replicas with five samples each.
  EXPECT_NEAR(choice.iterations_per_s, 1 / 1.05, 1e-9);
}

TEST(Goodput, WithMuchNoiseTheLargestBatchIsBest) {
  // Four replicas with forty each take 1.4 s for what is worth sixteen.
  const auto choice = noisy(1e9).best(1, 4, 10, 0);
  EXPECT_DOUBLE_EQ(choice.batch, 160);
  EXPECT_NEAR(choice.iterations_per_s, 16 / 1.4, 1e-4);
}

TEST(Goodput, SpeedIsCountedAtTheStatedBatch) {
  const double at_ten = noisy(1e9).best(1, 4, 10, 0).iterations_per_s;
  EXPECT_NEAR(noisy(1e9).best(1, 4, 40, 0).iterations_per_s, at_ten / 4, 1e-4);
}

TEST(Goodput, MoreGpusThanSamplesAreNoUse) {
  EXPECT_EQ(noisy(3).replicas_max(), 32);
  EXPECT_GT(noisy(3).best(8, 32, 10, 0).iterations_per_s, 0);
  EXPECT_EQ(noisy(3).best(9, 33, 10, 0).iterations_per_s, 0);
}

}  // namespace
}  // namespace orrery
