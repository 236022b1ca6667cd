#pragma once

#include <memory>
#include <optional>

#include "model/cluster.h"
#include "scheduling/policy/deadline/promises.h"
#include "scheduling/policy/execution_cost.h"
#include "scheduling/policy/policy.h"

namespace orrery {

struct DeadlineOptions {
  const Workload* workload = nullptr;
  PromiseOptions promises = {};
  // A job whose deadline cannot be promised waits for capacity and runs on what is left; otherwise
  // it is refused at once.
  bool second_chance = true;
  // By how much slower than its curve a job may be that has not been seen running; below 0: as much
  // as those that were seen.
  double margin = -1;
  Duration slot{};  // rounds are at least so far apart
  std::optional<ExecutionCost> cost = {};
};

// Deadlines promised at submission, elastic jobs, and what is left to all others; see
// docs/systems/deadlines.md.
std::unique_ptr<Policy> make_deadline(const DeadlineOptions& options);

}  // namespace orrery
