#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/random.h"
#include "cloud/lifetimes/survival_curve.h"
#include "model/time.h"

namespace orrery {

// S(t) = exp(-(t / scale)^shape). A shape below 1 is infant mortality; 1 is the exponential.
struct Weibull {
  double shape = 1;
  double scale_h = 1;
};

// The distribution of the age at which a server is revoked, and optionally the age at which the
// provider ends it anyhow. A value: reads no clock, draws only from the Random that it is given.
class Lifetime {
 public:
  // Revoked at exactly this age.
  static Lifetime fixed(Duration age);
  // Rate at least 0; 0 is never revoked.
  static Lifetime exponential(double rate_per_h);
  // Shape and scale above 0.
  static Lifetime weibull(const Weibull& parameters);
  // Steps as kaplan_meier() gives them. What survives the last step is never revoked.
  static Lifetime empirical(std::vector<SurvivalStep> curve);
  static Lifetime empirical(std::span<const LifetimeSample> samples);

  // The same, but the provider ends every server that reaches `limit`, which is above 0.
  Lifetime with_limit(Duration limit) const;
  std::optional<Duration> limit() const { return limit_; }

  // The probability to live longer than `age`; 0 from the limit on.
  double survival(Duration age) const;

  // Revocations an hour, the mean over the next `window` (above 0) for a server of this age. The
  // limit is no revocation. Infinite if the server cannot live through `window`.
  double hazard_per_h(Duration age, Duration window = std::chrono::hours(1)) const;

  // The age at its end of a server that has lived to `age`: at least `age`, at most the limit. The
  // largest Duration if it is never revoked. Draws one number.
  Duration sample(Random& random, Duration age = {}) const;

  // How much longer a server of this age lives in the mean; the largest Duration if that is
  // without bound.
  Duration mean_residual(Duration age) const;

 private:
  using Curve = std::vector<SurvivalStep>;
  using Shape = std::variant<Curve, Weibull>;
  explicit Lifetime(Shape shape) : shape_(std::move(shape)) {}

  double survival_without_limit(Duration age) const;
  Duration age_of_survival(double survival) const;

  Shape shape_;
  std::optional<Duration> limit_{};
};

}  // namespace orrery
