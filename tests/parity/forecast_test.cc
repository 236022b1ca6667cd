// Forecasts from a live cluster, compared with what then happens.
#include "live/forecast/forecast.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "parity/compare.h"

namespace orrery {
namespace {

constexpr Duration kRounding = std::chrono::microseconds(1);

class Forecasts : public testing::TestWithParam<std::string> {};

// For policies that only see which jobs wait and which run.
TEST_P(Forecasts, WhatIsPredictedAtSomeInstantIsWhatHappens) {
  std::size_t predicted = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Scenario all = seed % 2 == 0 ? profiled_scenario(seed) : plain_scenario(seed);
    const Recording truth = simulated(all, GetParam());
    Random random(seed);
    const Time last = truth.events().back().time;
    // Once every job was submitted, as a forecast has no others.
    const Time cut = all.submissions.back().at +
                     Duration(random.between(0, (last - all.submissions.back().at).count()));
    Wire wire;
    LiveCluster live(all, choice_of(GetParam()), wire);
    ASSERT_EQ(live.run(ends_of(truth), cut), "");
    const auto found = make_forecast(live.core().snapshot(Duration::zero()), {.specs = all.specs});
    ASSERT_TRUE(found.ok()) << found.error().message;
    const Forecast& forecast = found.value();
    EXPECT_TRUE(forecast.is_whole);
    std::map<JobNumber, Time> starts;
    for (const Event& event : truth.events()) {
      const JobNumber job = static_cast<JobNumber>(index(event.job)) + 1;
      if (event.time <= cut) continue;
      const bool begins = event.kind == EventKind::Started || event.kind == EventKind::Resumed;
      const JobState state = live.core().state().job(event.job).state;
      if (begins && state != JobState::Running) starts.try_emplace(job, event.time);
      if (event.kind != EventKind::Completed) continue;
      ASSERT_TRUE(forecast.ends.contains(job)) << "job " << job;
      EXPECT_LE(std::chrono::abs(forecast.ends.at(job) - event.time), kRounding) << "job " << job;
      ++predicted;
    }
    ASSERT_EQ(forecast.starts.size(), starts.size());
    for (const auto& [job, at] : starts) {
      ASSERT_TRUE(forecast.starts.contains(job)) << "job " << job;
      EXPECT_LE(std::chrono::abs(forecast.starts.at(job).at - at), kRounding) << "job " << job;
    }
  }
  EXPECT_GT(predicted, 20U);
}

INSTANTIATE_TEST_SUITE_P(Of, Forecasts, testing::Values("fifo", "sjf", "srtf", "srsf"));

}  // namespace
}  // namespace orrery
