#pragma once

#include <string>

#include "base/result.h"
#include "training/libtorch/learner.h"
#include "training/sync/director.h"
#include "training/trainer/shard/flat_optimizer.h"

namespace orrery {

// What the head sends a process first. A shard needs the optimiser and its number of parameters;
// workers and the evaluator need the rest.
struct PartSetup {
  Architecture architecture = Architecture::ParameterServers;
  LearnerOptions learner{};
  OptimizerOptions optimizer{};
  std::int64_t parameters = 0;  // of a shard
  std::string meeting_host{};   // all-reduce: where groups find each other
  std::uint16_t meeting_port = 0;
  double ring_patience_s = 60;
  std::string head_listens{};
};
std::string setup_text(const PartSetup& setup);
Result<PartSetup> parse_setup(const std::string& text);

}  // namespace orrery
