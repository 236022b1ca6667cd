#pragma once

#include <span>
#include <vector>

#include "training/mode_selection/tree/tree_director.h"
#include "training/sync/topology.h"

namespace orrery {

// What a tree is chosen for.
struct TreeSituation {
  const LinkLook& look;
  std::span<const WorkerId> members{};     // ascending
  std::span<const WorkerId> stragglers{};  // ascending
  double busy_s = 0;                       // of a task, what a worker computes
  double in_use = 1;                       // the share of time that a tree can make shorter
  bool waits_for_all = false;              // parameters and gradients alternate
  bool hands_on_parameters = false;
  double limit = 0.9;         // of every link, what a tree may use
  double gain_predicted = 0;  // least share of time that a tree must save
};

// The tree that bears the highest rate; empty if none would help. A congested link hides what would
// flow if it could, so rates are tried from what workers could do by themselves downwards.
ParentPairs choose_tree(const TreeSituation& situation);

}  // namespace orrery
