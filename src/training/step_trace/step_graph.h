#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "training/step_trace/recorded_steps.h"

namespace orrery {

// Which operations of a step wait for which. After "Understanding Stragglers in Large Model
// Training Using What-if Analysis" (OSDI'25), section 3.2. All workers and steps have one graph.
//
// - An operation starts when all that it needs have ended.
// - Operations of one group, such as a send and its receive, end together: each its own transfer
//   time after the last of the group has started.
// - A group across workers has that operation of every worker in it.
struct StepGraph {
  static constexpr int kNoGroup = -1;

  struct Group {
    std::vector<std::size_t> members;
    bool across_workers = false;
  };

  std::vector<std::vector<std::size_t>> needs;  // of each operation
  std::vector<int> group_of;                    // of each operation; kNoGroup: ends by itself
  std::vector<Group> groups;
  // Each operation after all that it needs and all that those end with.
  std::vector<std::size_t> order;
};

// Fails if the operations are those of a schedule that the rules do not cover, naming one of them,
// or if they wait for each other in a circle.
Result<StepGraph> make_step_graph(const RecordedSteps& recorded);

}  // namespace orrery
