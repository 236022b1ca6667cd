#pragma once

#include <string>

#include "base/result.h"

namespace orrery {

struct MemberArguments {
  std::string folder{};  // of a run that was prepared by `run --members`
  std::string name{};    // no two members of a run have the same, ended ones included
  std::string role{};    // worker, shard, evaluator, or chief: a worker that leads at first
  int index = 0;         // of a shard
  bool may_lead = false;
  double patience_s = 10;  // longer than a head may be starved of CPU time
  double cores = 0;        // quota of a worker's process while it trains; 0: none
};

// What one machine does for a run whose machines come and go: keeps the process of its role
// running, and the head while it holds the lease. A member that may lead takes the lease when it
// was given up or has not been renewed for `patience_s`; a chief does so at once if no member has
// led the run yet. SIGTERM announces the end of the machine: a worker hands in what it has, and a
// head gives up the lease. Returns when the run is over.
Status member_command(const MemberArguments& arguments);

}  // namespace orrery
