#include "scheduling/prediction/optimistic_profile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/random.h"

namespace orrery {
namespace {

constexpr double kGb = 1e9;
constexpr int kCpus = 24;
constexpr int kMemories = 10;
constexpr double kServer = 500 * kGb;

double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) *
         std::cos(2 * std::numbers::pi * random.uniform());
}

// A job whose iterations go through the GPU, and whose data through CPUs, cache and storage.
struct Truth {
  double gpu_s = 0;
  double cpu_s = 0;     // of one CPU, divided among all there are
  double serial_s = 0;  // of the CPU part, which more CPUs do not help
  double sharpness =
      0;  // how well the two overlap: the higher, the more the slower one alone counts
  double dataset_bytes = 0;
  double epoch_iterations = 0;
  double storage_bytes_per_s = 0;
  double process_bytes = 0;  // memory that is no cache

  explicit Truth(Random& random) {
    gpu_s = 0.05 + 0.5 * random.uniform();
    cpu_s = gpu_s * std::pow(10, random.uniform() * 2 - 0.5);  // from idle to starved with 24 CPUs
    serial_s = random.uniform() < 0.5 ? 0 : 0.1 * gpu_s * random.uniform();
    sharpness = 4 + 60 * random.uniform();
    dataset_bytes = kGb * std::pow(10, 0.5 + 2.5 * random.uniform());
    process_bytes = 20 * kGb * random.uniform();
    storage_bytes_per_s = 0.5e9 * (0.5 + random.uniform());
    // An epoch without a cache takes from a tenth to five times as long as the training does.
    epoch_iterations = dataset_bytes / storage_bytes_per_s / gpu_s / (0.1 + 4.9 * random.uniform());
  }

  double cached_share(double memory_bytes) const {
    return std::clamp((memory_bytes - process_bytes) / dataset_bytes, 0.0, 1.0);
  }

  double speed(double cpus, double memory_bytes, double storage_factor) const {
    const double host_s = serial_s + cpu_s / cpus;
    const double busy_s =
        std::pow(std::pow(gpu_s, sharpness) + std::pow(host_s, sharpness), 1 / sharpness);
    const double load_s = (1 - cached_share(memory_bytes)) * dataset_bytes /
                          (storage_bytes_per_s * storage_factor) / epoch_iterations;
    return 1 / std::max(busy_s, load_s);
  }
};

OptimisticSetup setup_for(const Truth& truth, double noise) {
  OptimisticSetup setup;
  for (int cpus = 1; cpus <= kCpus; ++cpus) setup.cpu_milli.push_back(1000 * cpus);
  for (int part = 1; part <= kMemories; ++part) {
    setup.memory_bytes.push_back(static_cast<std::int64_t>(kServer * part / kMemories));
  }
  setup.reference = {3000, setup.memory_bytes.back()};
  setup.dataset_bytes = truth.dataset_bytes;
  setup.epoch_iterations = truth.epoch_iterations;
  setup.storage_bytes_per_s = truth.storage_bytes_per_s;
  setup.cached_share = [&truth](std::int64_t bytes) {
    return truth.cached_share(static_cast<double>(bytes));
  };
  setup.noise = noise;
  return setup;
}

struct Outcome {
  double mean_error = 0;  // over the cells of the matrix
  double worst_cell = 0;
  int measurements = 0;
};

// Measurements scatter by `noise`, and storage is by up to `drift` faster or slower than it was
// said to be.
Outcome profile(std::uint64_t seed, double noise, double drift) {
  Random random(seed);
  const Truth truth(random);
  const double storage = 1 + drift * (2 * random.uniform() - 1);
  const OptimisticSetup setup = setup_for(truth, noise);
  const double all = static_cast<double>(setup.memory_bytes.back());
  const auto answer = profile_optimistically(setup, [&](std::int64_t cpu_milli) -> Result<double> {
    const double cpus = static_cast<double>(cpu_milli) / 1000;
    return truth.speed(cpus, all, storage) * (1 + noise * normal(random));
  });
  EXPECT_TRUE(answer.ok());
  if (!answer.ok()) return {};
  Outcome outcome;
  outcome.measurements = answer.value().measurements;
  const Sensitivity& found = answer.value().sensitivity;
  for (std::size_t i = 0; i < found.speed.size(); ++i) {
    const double cpus = static_cast<double>(found.cpu_milli[i / kMemories]) / 1000;
    const double bytes = static_cast<double>(found.memory_bytes[i % kMemories]);
    const double expected = truth.speed(cpus, bytes, storage);
    const double error =
        std::abs(found.speed[i] / answer.value().iteration_s - expected) / expected;
    outcome.mean_error += error / static_cast<double>(found.speed.size());
    outcome.worst_cell = std::max(outcome.worst_cell, error);
  }
  return outcome;
}

struct Errors {
  double median = 0;
  double worst = 0;
  double worst_cell = 0;
  int most_measurements = 0;
  double measurements = 0;
};

Errors errors_over(int truths, double noise, double drift) {
  Errors errors;
  std::vector<double> means;
  for (int seed = 0; seed < truths; ++seed) {
    const Outcome outcome = profile(static_cast<std::uint64_t>(seed), noise, drift);
    means.push_back(outcome.mean_error);
    errors.worst_cell = std::max(errors.worst_cell, outcome.worst_cell);
    errors.most_measurements = std::max(errors.most_measurements, outcome.measurements);
    errors.measurements += static_cast<double>(outcome.measurements) / truths;
  }
  std::ranges::sort(means);
  errors.median = means[means.size() / 2];
  errors.worst = means.back();
  return errors;
}

std::string text_of(const Errors& errors) {
  return fmt::format(
      "mean error of a matrix: median {:.2f} %, worst {:.2f} %; worst cell {:.2f} %; measurements: "
      "{:.1f} on average, {} at most",
      100 * errors.median, 100 * errors.worst, 100 * errors.worst_cell, errors.measurements,
      errors.most_measurements);
}

TEST(OptimisticProfile, IsWithin3PerCentAtATenthOfTheMeasurements) {
  const Errors errors = errors_over(2000, 0.01, 0.02);
  EXPECT_LE(errors.worst, 0.03) << text_of(errors);
  EXPECT_LE(errors.median, 0.01) << text_of(errors);
  EXPECT_LE(errors.most_measurements, kCpus * kMemories / 10) << text_of(errors);
}

TEST(OptimisticProfile, WithoutNoiseEveryCellIsWithinTheTolerance) {
  const Errors errors = errors_over(2000, 0, 0);
  EXPECT_LE(errors.worst_cell, 0.03) << text_of(errors);
  EXPECT_LE(errors.measurements, 10) << text_of(errors);
}

TEST(OptimisticProfile, AFlatCurveTakesTwoMeasurements) {
  Random random(1);
  Truth truth(random);
  truth.cpu_s = 0;
  truth.serial_s = 0;
  const auto answer =
      profile_optimistically(setup_for(truth, 0), [&](std::int64_t cpu_milli) -> Result<double> {
        return truth.speed(static_cast<double>(cpu_milli) / 1000, kServer, 1);
      });
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().measurements, 2);
}

TEST(OptimisticProfile, TheReferenceShareHasSpeedOne) {
  Random random(2);
  const Truth truth(random);
  const OptimisticSetup setup = setup_for(truth, 0);
  const auto answer = profile_optimistically(setup, [&](std::int64_t cpu_milli) -> Result<double> {
    return truth.speed(static_cast<double>(cpu_milli) / 1000, kServer, 1);
  });
  ASSERT_TRUE(answer.ok());
  EXPECT_DOUBLE_EQ(speed_with(answer.value().sensitivity, setup.reference, 1), 1);
  EXPECT_EQ(answer.value().sensitivity.ideal, knee(answer.value().sensitivity));
}

TEST(OptimisticProfile, AMeasurementThatFailsOrIsNoSpeedEndsIt) {
  Random random(3);
  const Truth truth(random);
  const OptimisticSetup setup = setup_for(truth, 0);
  const auto failed = profile_optimistically(setup, [](std::int64_t) -> Result<double> {
    return Error{Code::Unavailable, "the job ended"};
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "the job ended");
  EXPECT_FALSE(
      profile_optimistically(setup, [](std::int64_t) -> Result<double> { return 0.0; }).ok());
}

}  // namespace
}  // namespace orrery
