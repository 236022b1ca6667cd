#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/job.h"

namespace orrery {

inline constexpr std::int64_t kNoDeadline_s = std::numeric_limits<std::int64_t>::max();

// The numbers of GPUs a job may be given, rising, and its speed on each. Levels are counted from 1;
// level 0 is no GPU at all.
class Levels {
 public:
  // Those of the curve up to `most`; what it asked for, where there is none.
  Levels(const Workload& workload, const JobSpec& job, int most);

  int top() const { return static_cast<int>(gpus_.size()) - 1; }
  int gpus(int level) const { return gpus_[static_cast<std::size_t>(level)]; }
  double speed(int level) const { return speed_[static_cast<std::size_t>(level)]; }
  // The highest that needs at most so many.
  int fit(int gpus) const {
    return gpus >= most() ? top() : fit_[static_cast<std::size_t>(gpus < 0 ? 0 : gpus)];
  }

  int most() const { return gpus_.back(); }
  int fitting(int gpus) const { return this->gpus(fit(gpus)); }
  // The number one level above; the same if there is none.
  int above(int gpus) const {
    const int level = fit(gpus);
    return level < top() ? this->gpus(level + 1) : gpus;
  }
  double speed_on(int gpus) const { return speed(fit(gpus)); }

 private:
  std::vector<int> gpus_;
  std::vector<double> speed_;
  std::vector<std::uint8_t> fit_;  // by number of GPUs below the most
};

}  // namespace orrery
