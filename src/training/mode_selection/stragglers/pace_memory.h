#pragma once

#include <vector>

#include "training/mode_selection/scoring/score.h"

namespace orrery {

// How far the pace that a mode really had was from what was predicted of it: the servers' own time,
// waiting that no formula knows. What is predicted is corrected by it. A mode that has not been
// tried yet is taken to be off like the present one, so that it does not look better for being
// unknown; and what was seen long ago is forgotten bit by bit.
class PaceMemory {
 public:
  void add(const Mode& mode, double samples_per_s, double predicted_per_s, double passed_s);
  void correct(ScoredMode& scored, const Mode& present) const;
  double factor(const Mode& mode, const Mode& present) const;  // real over predicted
  void forget() { seen_.clear(); }

 private:
  struct Seen {
    Mode mode{};
    double log_factor = 0;
    double weight = 0;  // how much it is believed, 0 to 1
  };
  const Seen* find(const Mode& mode) const;

  std::vector<Seen> seen_;
};

}  // namespace orrery
