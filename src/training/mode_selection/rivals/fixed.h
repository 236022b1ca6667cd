#pragma once

#include <memory>

#include "training/sync/director.h"

namespace orrery {

// One mode from beginning to end.
std::unique_ptr<Director> make_fixed_director(Mode mode);

struct RegroupingOptions {
  int every_rounds = 2;  // global batches between two looks
  int patience = 2;      // looks in a row that must say the same before anything changes
  int tasks_least = 3;   // of each worker, before the first
  double batch_least = 1;
  int blocks = 1;  // of a task
};

// dynamic-x: SSGD while no worker straggles (straggler.h). Else groups of workers with similar
// times (1-D Ward clustering). They are formed again when other workers straggle, or when a member
// of a group has become a straggler among its members; times that scatter change nothing.
std::unique_ptr<Director> make_dynamic_director(const RegroupingOptions& options = {});

// LGC with the K whose predicted time to a decrease of the loss is least (score.h): more for the
// stragglers' worth, fewer for speed. Chosen again as times change.
std::unique_ptr<Director> make_lgc_director(const RegroupingOptions& options = {});

// All-reduce with the `size` fastest as the ring and the others as their children, chosen again
// when a member becomes slow; all workers are in the ring until times are known.
std::unique_ptr<Director> make_ring_director(int size, const RegroupingOptions& options = {});

// SSGD, in the words of the architecture.
Mode synchronous_mode(Architecture architecture);

}  // namespace orrery
