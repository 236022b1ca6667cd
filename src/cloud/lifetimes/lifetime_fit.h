#pragma once

#include <span>

#include "base/result.h"
#include "cloud/lifetimes/lifetime.h"
#include "cloud/lifetimes/survival_curve.h"

namespace orrery {

struct ExponentialFit {
  double rate_per_h = 0;
  double log_likelihood = 0;
};

struct WeibullFit {
  Weibull parameters;
  double log_likelihood = 0;
};

// The parameters under which right-censored samples are most likely, ages in hours. A server that
// was censored adds the probability to live longer than its age. Ages below half a minute count as
// half a minute: stamps have whole minutes, and the likelihood of a Weibull has no bound at 0.
//
// FailedPrecondition: the samples do not determine the parameters. The exponential needs one
// revocation, the Weibull two at different ages.
Result<ExponentialFit> fit_exponential(std::span<const LifetimeSample> samples);
Result<WeibullFit> fit_weibull(std::span<const LifetimeSample> samples);

}  // namespace orrery
