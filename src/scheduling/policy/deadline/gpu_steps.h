#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery {

// GPUs over time, in whole seconds: from `at` on there are so many, until the next step; the last
// step holds for ever.
struct GpuStep {
  std::int64_t at = 0;
  int gpus = 0;

  bool operator==(const GpuStep&) const = default;
};
using GpuSteps = std::vector<GpuStep>;  // rising times

// The first step at `at` or later.
inline std::size_t step_from(const GpuSteps& steps, std::int64_t at) {
  return static_cast<std::size_t>(std::ranges::lower_bound(steps, at, {}, &GpuStep::at) -
                                  steps.begin());
}

// Drops steps that change nothing.
inline void merge(GpuSteps& steps) {
  const auto same = [](const GpuStep& a, const GpuStep& b) { return a.gpus == b.gpus; };
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
}

}  // namespace orrery
