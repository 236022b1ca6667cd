#pragma once

#include <vector>

#include "training/sync/director.h"

namespace orrery {

struct LossGuardOptions {
  double weight = 1.0 / 32;        // of one gradient's loss in the smoothed one
  double weight_slow = 1.0 / 256;  // and in a smoother one, whose lowest is what counts
  double deviations = 6;           // the loss has risen if it is above that by these,
  double rise_least = 0.10;        // and by this share of it,
  int gradients_risen = 96;        // for so long: the loss of SSGD has steep, short rises too
  double rise_most = 2;            // or if the losses themselves are this many times it above it
  int gradients_most = 8;          // so often in a row
  int gradients_least = 32;        // after a switch,
  int gradients_settling = 256;    // or one to a less stale mode
  Duration away_first = std::chrono::seconds(30);  // and twice as long each further time
};

// Watches whether the loss rises in a mode, and keeps away from those in which it did and from all
// that are at least as stale.
class LossGuard {
 public:
  explicit LossGuard(const LossGuardOptions& options = {}) : options_(options) {}

  void add(const IterationSample& sample);
  // Another mode begins. If it is less stale, its updates are greater and fewer, and what the loss
  // does at first is not held against it: parameters that small steps have led to can be too steep
  // for great ones (docs/systems/star.md).
  void switched(bool less_stale = false);
  bool rose() const {
    return not_finite_ || risen_ > options_.gradients_risen || far_ >= options_.gradients_most;
  }
  double loss() const { return mean_; }

  void keep_away(const Mode& mode, double staleness, Time now);
  bool keeps_away(const Mode& mode, double staleness, Time now) const;

 private:
  struct Away {
    Mode mode{};
    double staleness = 0;
    int times = 0;
    Time until{};
  };
  LossGuardOptions options_;
  double mean_ = 0, variance_ = 0, slow_ = 0, lowest_ = 0;
  std::int64_t seen_ = 0;
  int since_switch_ = 0;
  int risen_ = 0, far_ = 0;  // gradients in a row
  bool not_finite_ = false;
  std::vector<Away> away_;
};

}  // namespace orrery
