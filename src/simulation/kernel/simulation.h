#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "model/cluster.h"
#include "model/event.h"
#include "model/job.h"
#include "model/run_description.h"

namespace orrery {

// One run: a workload on a cluster under a policy. The same setup gives the same events, byte for
// byte, on every machine and beside any other runs.
struct SimulationSetup {
  const Workload* workload = nullptr;
  const Cluster* cluster = nullptr;
  std::string policy;
  std::map<std::string, std::string> options;
  SemanticsKind semantics = SemanticsKind::Orrery;
  std::uint64_t seed = 0;
  Duration round{};  // rounds are held at multiples of this only; 0: whenever something happens
  // Each job is really as fast as its profile says times a number from 1 - this to 1 + this, drawn
  // by the seed. No policy sees it but by the job's progress.
  double speed_error = 0;
  // The workload comes from a log of the same world, where iterations are as long already as that
  // world makes them.
  bool from_log = false;
  JobId stop_after_begin = kNoJob;  // the run ends once all jobs in [begin, end) have ended
  JobId stop_after_end = kNoJob;
  const std::atomic<bool>* cancel = nullptr;   // set: the run ends where it is
  std::atomic<std::int64_t>* ended = nullptr;  // counts jobs that came to an end, for who watches
};

struct SimulationOutcome {
  std::uint64_t events = 0;
  std::int64_t rounds = 0;
  std::int64_t unfinished = 0;  // jobs without a final state: cancelled run, or stopped early
  bool interrupted = false;     // `cancel` ended the run before its end
};

// Whether the policy and its options can be had, without running anything.
Status check(const SimulationSetup& setup);

Result<SimulationOutcome> simulate(const SimulationSetup& setup, EventSink& sink);

}  // namespace orrery
