#include "cloud/lifetimes/lifetime_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery {
namespace {

constexpr Duration kShortest = std::chrono::seconds(30);

struct Ages {
  std::vector<double> all_h;
  double revoked = 0;
  double sum_of_logs = 0;  // of the revoked
  bool distinct = false;   // True if two revocations have different ages
};

Ages ages_of(std::span<const LifetimeSample> samples) {
  Ages ages;
  double first_h = 0;
  for (const LifetimeSample& sample : samples) {
    const double age_h = seconds(std::max(sample.age, kShortest)) / 3600;
    ages.all_h.push_back(age_h);
    if (!sample.revoked) continue;
    if (ages.revoked == 0) first_h = age_h;
    ages.distinct = ages.distinct || age_h != first_h;
    ages.revoked += 1;
    ages.sum_of_logs += std::log(age_h);
  }
  return ages;
}

// Sums over all samples of t^k and of t^k log t.
struct Powers {
  double sum = 0;
  double sum_of_logs = 0;
};

Powers powers_of(const Ages& ages, double shape) {
  Powers powers;
  for (const double age_h : ages.all_h) {
    const double power = std::pow(age_h, shape);
    powers.sum += power;
    powers.sum_of_logs += power * std::log(age_h);
  }
  return powers;
}

// The derivative of the likelihood along the shape, the best scale for it put in, is this times a
// negative number. It rises with the shape, so that it has one zero.
double slope(const Ages& ages, double shape) {
  const Powers powers = powers_of(ages, shape);
  return powers.sum_of_logs / powers.sum - 1 / shape - ages.sum_of_logs / ages.revoked;
}

}  // namespace

Result<ExponentialFit> fit_exponential(std::span<const LifetimeSample> samples) {
  const Ages ages = ages_of(samples);
  if (ages.revoked == 0) {
    return Error{Code::FailedPrecondition, "an exponential needs at least one revoked server"};
  }
  double sum_h = 0;
  for (const double age_h : ages.all_h) sum_h += age_h;
  const double rate = ages.revoked / sum_h;
  return ExponentialFit{rate, ages.revoked * std::log(rate) - rate * sum_h};
}

Result<WeibullFit> fit_weibull(std::span<const LifetimeSample> samples) {
  const Ages ages = ages_of(samples);
  if (!ages.distinct) {
    return Error{Code::FailedPrecondition,
                 "a Weibull needs revocations at two different ages at least"};
  }
  // Powers of years in hours stay within a double up to the highest shape.
  double low = 1e-3, high = 50;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (slope(ages, middle) > 0 ? high : low) = middle;
  }
  const double shape = low;
  const double scale_h = std::pow(powers_of(ages, shape).sum / ages.revoked, 1 / shape);
  // At the best scale the sum of (t / scale)^shape is the number of revocations.
  const double log_likelihood = ages.revoked * (std::log(shape) - shape * std::log(scale_h) - 1) +
                                (shape - 1) * ages.sum_of_logs;
  return WeibullFit{{shape, scale_h}, log_likelihood};
}

}  // namespace orrery
