#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/mode_selection/star/star.h"
#include "training/mode_selection/stragglers/iteration_forecast.h"
#include "training/sync/director.h"

namespace orrery {

// When STAR may look at its evidence, score all modes, and leave the present mode. Time and samples
// both count, so that neither slow nor fast training is judged by too little. Before the first
// switch less is enough: each round that makes sure of a slow worker is one that waits for it.
class SwitchHysteresis {
 public:
  explicit SwitchHysteresis(const StarOptions& options);  // which outlive it

  void begin(const Situation& situation);  // training begins
  void members_changed() { seen_enough_ = false; }
  void switched(const Situation& situation);

  bool may_look(Time now) const;
  // `sums`: true if updates of the present mode are sums among several workers.
  bool is_due(const Situation& situation, const IterationForecast& forecast, bool sums);
  bool is_due_early(const Situation& situation, const IterationForecast& forecast, bool sums);
  struct Stretch {
    double seconds = 0, samples = 0;
  };
  Stretch look(const Situation& situation);  // what has passed since the look before

  // While the same workers straggle and the mode stays, all modes are scored less and less often:
  // it is by far the greatest part of what STAR costs. `at_once`: it does not wait this time.
  bool is_scoring_due(Time now, std::span<const WorkerId> stragglers, bool at_once);
  bool may_leave(const Situation& situation, bool any_worker_hangs) const;

 private:
  struct Mark {
    Time at{};
    std::int64_t samples = 0;
  };
  static Mark mark(const Situation& situation) { return {situation.now, situation.samples_done}; }
  static double rounds_since(const Mark& mark, const Situation& situation);
  bool starts_slowly(Time now) const;

  const StarOptions& options_;
  bool has_switched_ = false, seen_enough_ = false;
  Mark switched_{}, looked_{};
  Time looked_early_at_{}, scored_at_{-std::chrono::hours(1)};
  Duration score_wait_{};
  std::vector<WorkerId> scored_for_{};  // stragglers when modes were last scored
};

}  // namespace orrery
