#pragma once

#include "training/colocation/load.h"

namespace orrery {

// How much slower a job becomes when one of its tasks is cut: the sensitivity is d(relative slow-
// down) / d(cut / (1 - cut)), 1 for a task that does nothing but use that resource. Measured by
// least squares through the origin over what cuts really did, from a guess that weighs as much as
// one cut by half.
class SensitivityMeter {
 public:
  explicit SensitivityMeter(double guess = 1) : xy_(guess), xx_(1) {}

  // `cut`: share of the resource taken away; `slowdown`: time after over time before, less 1.
  void add(double cut, double slowdown);
  double sensitivity() const;
  // Share by which an iteration becomes longer.
  double slowdown(double cut) const;

 private:
  double xy_, xx_;
};

// What the tasks that make updates take more when gradients come more often: load = base + extra *
// (rate / rate of SSGD - 1). Until other rates have been seen, it is all in proportion, which is
// what a parameter server does whose work is gradients and updates alone.
class ExtraMeter {
 public:
  void add(double rate_ratio, const Load& load);
  Load base() const;  // at SSGD's rate
  Load extra(double rate_ratio) const;
  bool measured() const { return weight_ > 0; }

 private:
  double weight_ = 0, x_ = 0, xx_ = 0;
  Load y_{}, xy_{};
};

}  // namespace orrery
