#include "cloud/lifetimes/lifetime.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr Duration kForever = kNever.time_since_epoch();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

double hours(Duration duration) { return seconds(duration) / 3600; }
Duration from_hours(double value) { return from_seconds(value * 3600); }

// (t / scale)^shape, which is -log S(t).
double exponent(const Weibull& weibull, Duration age) {
  return age <= Duration{} ? 0 : std::pow(hours(age) / weibull.scale_h, weibull.shape);
}

double age_of_exponent_h(const Weibull& weibull, double exponent) {
  return weibull.scale_h * std::pow(exponent, 1 / weibull.shape);
}

// The mean age at the end, no more than `limit`, of servers that have lived to `age`. It is the
// integral of t(z) exp(-(z - z0)) over z = -log S, and the share that reaches the limit beside it.
double mean_end_h(const Weibull& weibull, Duration age, Duration limit) {
  constexpr double kDeepest = 60;  // exp(-60) is below what a double adds to 1
  constexpr int kParts = 4000;     // even, for Simpson's rule
  const double first = exponent(weibull, age);
  const double last =
      limit == kForever ? first + kDeepest : std::min(exponent(weibull, limit), first + kDeepest);
  // z - z0 = y^2 makes the slope of t(z) at 0 finite for shapes above 1.
  const double end = std::sqrt(std::max(0.0, last - first)), step = end / kParts;
  double sum = 0;
  for (int i = 0; i <= kParts; ++i) {
    const double y = i * step;
    const double weight = i == 0 || i == kParts ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * 2 * y * std::exp(-y * y) * age_of_exponent_h(weibull, first + y * y);
  }
  return sum * step / 3 + std::exp(first - last) * age_of_exponent_h(weibull, last);
}

double mean_end_h(std::span<const SurvivalStep> curve, Duration age, Duration limit,
                  double survival) {
  double sum = 0, before = survival;
  for (const SurvivalStep& step : curve) {
    if (step.age <= age) continue;
    if (step.age >= limit) break;
    sum += (before - step.survival) * hours(step.age);
    before = step.survival;
  }
  if (before > 0) sum += limit == kForever ? kInfinite : before * hours(limit);
  return sum / survival;
}

}  // namespace

Lifetime Lifetime::fixed(Duration age) {
  return Lifetime(Curve{{.age = age, .survival = 0, .at_risk = 1, .revoked = 1}});
}

Lifetime Lifetime::exponential(double rate_per_h) {
  INVARIANT(rate_per_h >= 0, "the caller checks the rate");
  if (rate_per_h == 0) return Lifetime(Curve{});
  return Lifetime(Weibull{1, 1 / rate_per_h});
}

Lifetime Lifetime::weibull(const Weibull& parameters) {
  INVARIANT(parameters.shape > 0 && parameters.scale_h > 0, "the caller checks the parameters");
  return Lifetime(parameters);
}

Lifetime Lifetime::empirical(std::vector<SurvivalStep> curve) { return Lifetime(std::move(curve)); }

Lifetime Lifetime::empirical(std::span<const LifetimeSample> samples) {
  return Lifetime(kaplan_meier(samples));
}

Lifetime Lifetime::with_limit(Duration limit) const {
  INVARIANT(limit > Duration{}, "the caller checks the limit");
  Lifetime result = *this;
  result.limit_ = limit;
  return result;
}

double Lifetime::survival_without_limit(Duration age) const {
  if (const auto* weibull = std::get_if<Weibull>(&shape_)) {
    return std::exp(-exponent(*weibull, age));
  }
  return survival_at(std::get<Curve>(shape_), age);
}

double Lifetime::survival(Duration age) const {
  return limit_ && age >= *limit_ ? 0 : survival_without_limit(age);
}

double Lifetime::hazard_per_h(Duration age, Duration window) const {
  INVARIANT(window > Duration{}, "a rate needs a time that passes");
  const Duration later = age > kForever - window ? kForever : age + window;
  if (const auto* weibull = std::get_if<Weibull>(&shape_)) {
    return (exponent(*weibull, later) - exponent(*weibull, age)) / hours(window);
  }
  const double now = survival_without_limit(age), then = survival_without_limit(later);
  return then > 0 ? std::log(now / then) / hours(window) : kInfinite;
}

Duration Lifetime::age_of_survival(double survival) const {
  if (const auto* weibull = std::get_if<Weibull>(&shape_)) {
    return from_hours(age_of_exponent_h(*weibull, -std::log(survival)));
  }
  for (const SurvivalStep& step : std::get<Curve>(shape_)) {
    if (step.survival <= survival) return step.age;
  }
  return kForever;
}

Duration Lifetime::sample(Random& random, Duration age) const {
  const Duration end = age_of_survival(survival_without_limit(age) * random.uniform());
  return std::max(age, limit_ ? std::min(end, *limit_) : end);
}

Duration Lifetime::mean_residual(Duration age) const {
  const Duration limit = limit_.value_or(kForever);
  const double now = survival(age);
  if (now <= 0) return {};
  const auto* weibull = std::get_if<Weibull>(&shape_);
  const double end_h = weibull != nullptr ? mean_end_h(*weibull, age, limit)
                                          : mean_end_h(std::get<Curve>(shape_), age, limit, now);
  return from_seconds(std::max(0.0, end_h * 3600 - seconds(age)));
}

}  // namespace orrery
