#include "cloud/lifetimes/survival_curve.h"

#include <algorithm>
#include <cmath>

namespace orrery {

std::vector<SurvivalStep> kaplan_meier(std::span<const LifetimeSample> samples) {
  std::vector<LifetimeSample> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted, {}, &LifetimeSample::age);
  std::vector<SurvivalStep> steps;
  double survival = 1, variance = 0;
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    const Duration age = begin->age;
    const auto end = std::find_if(begin, sorted.end(),
                                  [&](const LifetimeSample& sample) { return sample.age != age; });
    const auto revoked =
        std::count_if(begin, end, [](const auto& sample) { return sample.revoked; });
    const auto at_risk = sorted.end() - begin;
    if (revoked > 0) {
      const auto n = static_cast<double>(at_risk), d = static_cast<double>(revoked);
      survival *= (n - d) / n;
      // With no survivor left the sum has no end, and the error is 0 by definition.
      if (n > d) variance += d / (n * (n - d));
      const double deviation = survival > 0 ? survival * std::sqrt(variance) : 0;
      steps.push_back({age, survival, deviation, at_risk, revoked});
    }
    begin = end;
  }
  return steps;
}

double survival_at(std::span<const SurvivalStep> curve, Duration age) {
  const auto after = std::ranges::upper_bound(curve, age, {}, &SurvivalStep::age);
  return after == curve.begin() ? 1 : std::prev(after)->survival;
}

}  // namespace orrery
