#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/sync/mode.h"

namespace orrery {

struct PaceOptions {
  double jitter = 0;   // standard deviation of one iteration time, as a share of it
  int updates = 1000;  // how long to look
  int blocks = 1;      // of a task; Lgc
  double sum_s = 0;    // of a ring, after its last gradient and before its next tasks
  std::uint64_t seed = 1;
};

// How a mode goes when workers take given times for an iteration (waiting not included).
struct Pace {
  double interval_s = 0;       // between two updates, mean
  double gradients_per_s = 0;  // used; of a cut one, the part that was done
  double mean_staleness = 0;   // in updates, over gradients
  double most_staleness = 0;
  std::vector<double> shares{};  // of the gradients used, by worker
};

// Exact where a formula is: Static with x = 1, x = N, and its staleness, N/x - 1 for any times;
// Dynamic. Elsewhere by going through the events from a common start. Times are positive and there
// is at least one; ring, groups and so on of the mode name workers, times[i] being of workers[i].
// Zeno++ is taken to accept everything.
Pace predict_pace(const Mode& mode, std::span<const WorkerId> workers,
                  std::span<const double> times_s, const PaceOptions& options = {});

// The same for one rule each.
Pace static_pace(std::span<const double> times_s, int x, const PaceOptions& options = {});
Pace dynamic_pace(std::span<const double> times_s, std::span<const std::vector<std::size_t>> groups,
                  const PaceOptions& options = {});
Pace ssp_pace(std::span<const double> times_s, int bound, const PaceOptions& options = {});
Pace lgc_pace(std::span<const double> times_s, int x, const PaceOptions& options = {});
// in_ring: not 0 for members of the ring, of which there is one at least.
Pace ring_pace(std::span<const double> times_s, std::span<const char> in_ring,
               const PaceOptions& options = {});

}  // namespace orrery
