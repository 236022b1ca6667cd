#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/time.h"

namespace orrery {

// What was seen of one server: it was revoked at `age`, or it was alive at `age` and not watched
// longer (right-censored).
struct LifetimeSample {
  Duration age{};
  bool revoked = false;
};

// A point where the survival curve falls.
struct SurvivalStep {
  Duration age{};
  double survival = 1;   // the share that lives longer than `age`
  double deviation = 0;  // standard error of the survival, after Greenwood
  std::int64_t at_risk = 0;
  std::int64_t revoked = 0;  // at this age
};

// The estimate of Kaplan and Meier: ages ascending, one step for each age with a revocation. A
// server that is censored at an age counts as at risk there. No samples: no steps.
std::vector<SurvivalStep> kaplan_meier(std::span<const LifetimeSample> samples);

// The survival at `age` on such a curve; 1 before its first step.
double survival_at(std::span<const SurvivalStep> curve, Duration age);

}  // namespace orrery
