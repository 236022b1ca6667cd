#pragma once

#include <utility>
#include <vector>

#include "training/emulation/straggler_script.h"

namespace orrery {

// What share of one resource a server has over time, by a script, and what work gets done with it.
// Asked with times that do not go back.
class ShareLine {
 public:
  ShareLine(const StragglerScript& script, int server, ServerResource resource);

  double at(double time_s);
  double share_at(double time_s) const;  // any time
  // When work is done that takes `work_s` at a whole share.
  double finish_s(double start_s, double work_s);
  // How much of it is done at a time; start_s may lie back as far as the last call's.
  double done_s(double start_s, double until_s) const;

 private:
  double end_of(std::size_t piece) const;

  std::vector<std::pair<double, double>> pieces_{};  // (from, share); the first is from 0
  std::size_t piece_ = 0;
};

}  // namespace orrery
