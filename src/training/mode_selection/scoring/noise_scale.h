#pragma once

#include <deque>
#include <optional>

#include "training/sync/director.h"

namespace orrery {

// The gradient noise scale phi = S / |G|^2, measured on line: S the trace of the covariance of one
// sample's gradient, G the true gradient; in samples. After McCandlish and others (2018), appendix
// A, carried over to gradients over unequal numbers of samples b_i: with n of them and B = sum b_i,
//   E sum |g_i|^2 = n |G|^2 + S sum 1/b_i,   E |mean g|^2 = |G|^2 + S / B,
// the mean being over samples. Both sides are smoothed before they are divided. Only gradients that
// were computed on the newest parameters count, and at least two of them.
class NoiseScale {
 public:
  explicit NoiseScale(double smoothing = 0.98) : smoothing_(smoothing) {}

  // How many samples the terms of the next update have; without it they are taken to be equal.
  void add(const IterationSample& sample);
  void add(const UpdateSample& update);

  // None until something has been measured, and while the true gradient may as well be 0.
  std::optional<double> phi() const;
  double gradient_norm2() const;  // |G|^2
  double variance() const;        // S
  int measured() const { return measured_; }

 private:
  struct FreshTerm {
    double samples = 0;
    double norm2 = 0;
  };
  double inverse_samples(const UpdateSample& update) const;

  double smoothing_;
  double gradient_ = 0, variance_ = 0, weight_ = 0;
  int measured_ = 0;
  std::deque<FreshTerm> newest_;
};

}  // namespace orrery
