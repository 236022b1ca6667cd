#include "training/trainer/head/director_choice.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

class CountedRegression final : public ModeRegression {
 public:
  explicit CountedRegression(std::size_t& samples) : samples_(samples) {}
  Status fit(std::span<const SelectorSample> samples) override {
    samples_ = samples.size();
    return {};
  }
  double predict(const ModeFeatures&) const override { return 1000; }

 private:
  std::size_t& samples_;
};

// Two workers, both as fast, in rounds of half a second; the loss falls.
void direct_for(Director& director, int rounds) {
  const std::vector<WorkerId> workers = {WorkerId{0}, WorkerId{1}};
  Mode mode{};
  std::int64_t task = 0;
  for (int round = 0; round < rounds; ++round) {
    const Time now = time_from_seconds(0.5 * (round + 1));
    for (const WorkerId worker : workers) {
      director.on_iteration(IterationSample{.worker = worker,
                                            .task = ++task,
                                            .at = now,
                                            .took = from_seconds(0.5),
                                            .samples = 32,
                                            .loss = 1 + std::exp(-round / 1000.0),
                                            .norm2 = 1});
    }
    director.on_update(UpdateSample{.version = round + 1, .at = now, .terms = 2, .samples = 64});
    mode = director.direct({.now = now,
                            .workers = workers,
                            .global_batch = 64,
                            .samples_done = std::int64_t{64} * (round + 1),
                            .rate = 0.1,
                            .mode = &mode});
  }
}

TEST(Direction, StarsSelectorLearnsFromTheRunsOwnWindows) {
  std::size_t samples = 0;
  auto log = RunLog::open("");
  auto direction = choose_direction({.mode = "star"}, nullptr,
                                    {.regression = std::make_unique<CountedRegression>(samples)},
                                    nullptr, log.value().get());
  ASSERT_TRUE(direction.ok());
  direct_for(*direction.value().director, 2000);
  EXPECT_EQ(samples, 0U) << "too few";
  direct_for(*direction.value().director, 4000);
  EXPECT_GE(samples, 150U);
  EXPECT_GT(direction.value().director->cpu_s(), 0);
}

}  // namespace
}  // namespace orrery
