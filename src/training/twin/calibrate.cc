#include "training/twin/calibrate.h"

#include <algorithm>

namespace orrery {

double update_interval_s(TwinSetup setup, const Mode& mode, int updates) {
  // Twice as long, less once: what the beginning costs cancels.
  const auto wall_s = [&](int count) {
    TwinSetup run = setup;
    const auto workers = static_cast<int>(setup.workers.size());
    const int terms = mode.x <= 0 ? workers : mode.x;
    run.mode = mode;
    run.conductor.samples_limit =
        std::int64_t{count} * terms * (run.conductor.global_batch / workers);
    run.conductor.evaluate_every = 0;
    return run_twin(run).wall_s;
  };
  return (wall_s(2 * updates) - wall_s(updates)) / updates;
}

Result<TwinSetup> calibrate(const PsMeasurement& measured) {
  if (measured.workers < 1 || !(measured.ssgd_interval_s > 0) ||
      !(measured.shards_busy >= 0 && measured.shards_busy < 1)) {
    return invalid(
        "a measurement needs workers, an interval of SSGD and how busy the servers were, below 1");
  }
  const double shards_s = measured.shards_busy * measured.ssgd_interval_s;
  const auto split = [&](double update_s) {
    TwinSetup setup;
    setup.conductor.global_batch = 32 * measured.workers;
    setup.workers.resize(static_cast<std::size_t>(measured.workers),
                         {.fixed_s = measured.ssgd_interval_s - shards_s});
    setup.jitter = measured.jitter;
    setup.shards = {.gradient_s = (shards_s - update_s) / measured.workers, .update_s = update_s};
    return setup;
  };
  if (measured.asgd_interval_s <= 0) return split(0);
  const int gradients = 200 * measured.workers;
  double low = 0, high = shards_s;
  for (int i = 0; i < 12; ++i) {
    const double middle = (low + high) / 2;
    const double interval_s = update_interval_s(split(middle), {.x = 1}, gradients);
    (interval_s < measured.asgd_interval_s ? low : high) = middle;
  }
  return split((low + high) / 2);
}

double latency_square_per_s(std::span<const LatencyPoint> points) {
  double above = 0, below = 0;
  for (const LatencyPoint& point : points) {
    const double square = point.path_s * point.path_s;
    above += square * point.longer_s;
    below += square * square;
  }
  return below > 0 ? std::max(0.0, above / below) : 0;
}

}  // namespace orrery
