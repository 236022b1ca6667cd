#pragma once

#include <cstdint>
#include <optional>

#include "model/time.h"
#include "training/sync/director.h"

namespace orrery {

// Finds if another mode is worth it while no worker straggles. Predictions then differ by little
// more than it is off, so the mode is tried out: samples a second before and after decide, divided
// by what their staleness costs. What did not help is not tried again for eight times as long.
class CalmTryOut {
 public:
  enum class Verdict { None, Open, Helps, DoesNot };

  void add(const IterationSample& sample);
  void look(const Situation& situation, bool no_straggler);
  void switched();

  // Samples a second, once it has been calm for so long that they are known; else 0.
  double pace(const Situation& situation) const;
  void try_out(double pace_before) { before_per_s_ = pace_before; }  // a mode just gone to

  // `lambda`: what each update of staleness costs.
  Verdict judge(const Situation& situation, double lambda);

 private:
  struct Mark {
    Time at{};
    std::int64_t samples = 0;
  };
  static double rate(const Mark& from, const Situation& to);

  double rounds_ = 16;                                // until the pace is known
  std::optional<Mark> calm_since_{}, tried_since_{};  // each from its first look on
  double before_per_s_ = 0;                           // of the test; 0: there is none
  bool helps_ = false;
  double staleness_ = 0;  // of the test's gradients, summed up
  std::int64_t gradients_ = 0;
};

}  // namespace orrery
