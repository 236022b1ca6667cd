#pragma once

#include <memory>
#include <optional>

#include "scheduling/policy/policy.h"

namespace orrery {

// Chronus (SoCC '21): time is cut into leases. A job with a deadline is accepted if leases for it
// can be reserved before the deadline; others run on what is left. Not elastic.
struct ChronusOptions {
  Duration lease = std::chrono::minutes(4);  // 10 s at least, so that leases can be counted
  // Newcomers are looked at and idle GPUs are given away at multiples of this; 0: at once.
  Duration slot{};
  double margin = 1.1;  // reserved for each second of work
  // What resuming takes on one GPU; it doubles and trebles with two and four. None: the job's own
  // start cost.
  std::optional<Duration> resume{};
  // True if accepted jobs run at once as long as all jobs were accepted. Otherwise always as late
  // as they may.
  bool adaptive = true;
  bool lost_first = false;  // of what is left, jobs take first whose deadline cannot be met
  bool early = true;        // accepted jobs may use idle GPUs before their leases
};
std::unique_ptr<Policy> make_chronus(const ChronusOptions& options);

}  // namespace orrery
