#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "model/cluster.h"
#include "model/event.h"
#include "model/job.h"
#include "model/node_change.h"
#include "model/run_description.h"

namespace orrery {

// One run: a workload on a cluster under a policy. The same setup gives the same events, byte for
// byte, on every machine and beside any other runs.
struct SimulationSetup {
  const Workload* workload = nullptr;
  const Cluster* cluster = nullptr;
  RunDescription run{};
  // With run.faults, in order of time: what happens to nodes. Outlives the run.
  std::span<const NodeChange> node_changes{};
  // The workload comes from a log of the same world, where iterations are as long already as that
  // world makes them.
  bool from_log = false;
  const std::atomic<bool>* cancel = nullptr;   // set: the run ends where it is
  std::atomic<std::int64_t>* ended = nullptr;  // counts the jobs that have come to an end
};

struct SimulationOutcome {
  std::uint64_t events = 0;
  std::int64_t rounds = 0;
  std::int64_t unfinished = 0;  // jobs without a final state: cancelled run, or stopped early
  bool interrupted = false;     // `cancel` ended the run before its end
};

// Fails if the policy or an option does not exist. Runs nothing.
Status check(const SimulationSetup& setup);

Result<SimulationOutcome> simulate(const SimulationSetup& setup, EventSink& sink);

}  // namespace orrery
