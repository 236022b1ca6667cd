#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "training/sync/task.h"

namespace orrery {

// A worker that hands in gradients, and what its link has left for handing on those of others.
struct TreeWorker {
  WorkerId worker{};
  double spare_in = 0;  // bytes a second
  double spare_out = 0;
  bool straggles = false;
};

struct TreeLinks {
  double gradient_bytes_per_s = 0;       // that one worker hands in: bytes of a gradient / interval
  double parameter_bytes_per_s = 0;      // that one worker gets back
  double server_in = 0, server_out = 0;  // what the parameter server's link can carry
  double limit = 0.9;                    // of it, how much may be planned with
};

// Which worker hands in at which, so that the server's link is not overloaded: (child, parent) for
// each child, depth two. Empty if all may hand in at the server; nothing if no tree keeps every
// link within its limit.
//
// A parent adds its children's gradients to its own and hands in one, so the server sees parents
// alone. As many as the link bears are parents, since every child costs its parent: those that do
// not straggle and have the most to spare. Children go to the parent with the most left; a
// straggler is a child whenever some worker must be one.
std::optional<std::vector<std::pair<WorkerId, WorkerId>>> plan_tree(
    std::span<const TreeWorker> workers, const TreeLinks& links);

}  // namespace orrery
