#pragma once

#include <vector>

#include "base/random.h"
#include "cloud/market/spot_job.h"
#include "cloud/market/spot_market.h"

namespace orrery {

// For tests: zones whose capacity comes and goes at random, for longer or shorter times.
inline SpotMarket random_market(Random& random, int zones, std::size_t ticks, Duration tick) {
  std::vector<SpotTrace> traces;
  for (int zone = 0; zone < zones; ++zone) {
    SpotTrace trace{.name = "zone", .tick = tick};
    const double mean_up = 1 + 20 * random.uniform();
    const double mean_down = 1 + 20 * random.uniform();
    bool up = random.uniform() < 0.5;
    while (trace.capacity.size() < ticks) {
      const double run = 1 + random.exponential(up ? mean_up : mean_down);
      for (double i = 0; i < run && trace.capacity.size() < ticks; ++i) {
        trace.capacity.push_back(up ? 1 : 0);
      }
      up = !up;
    }
    traces.push_back(std::move(trace));
  }
  return SpotMarket::join(traces).value();
}

// A job that fits a market of `ticks` from its start on. Some deadlines leave no slack at all, some
// change-overs are none, some longer than a tick.
inline SpotJob random_job(Random& random, std::size_t ticks, Duration tick) {
  const std::int64_t whole = tick.count() * static_cast<std::int64_t>(ticks);
  constexpr std::int64_t kSecond = 1'000'000'000;
  SpotJob job;
  const auto part = [&](std::int64_t most) {
    return Duration(random.between(0, most / kSecond) * kSecond);
  };
  job.changeover =
      random.between(0, 4) == 0 ? Duration{} : part(std::min(3 * tick.count(), whole / 3));
  job.work = Duration(kSecond) + part(whole - job.changeover.count() - kSecond);
  const Duration slack = Duration(whole) - job.earliest_end();
  job.deadline =
      job.earliest_end() + (random.between(0, 4) == 0 ? Duration{} : part(slack.count()));
  return job;
}

}  // namespace orrery
