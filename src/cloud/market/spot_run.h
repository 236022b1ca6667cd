#pragma once

#include <cstddef>

#include "cloud/market/spot_job.h"
#include "cloud/market/spot_policy.h"

namespace orrery {

// What a plan came to.
struct SpotRun {
  double cost = 0;
  Duration finish{};  // since the start of the plan
  bool met = false;
  int revocations = 0;  // spot machines that were lost
  Duration spot{};      // time for which spot machines were paid
  Duration on_demand{};
};

// Runs a policy over a market from tick `start` on. A machine is paid from its start to the end of
// the tick, or of the work. Job and start have passed check_spot_job() and check_spot_start(). From
// the deadline on a job runs on demand.
SpotRun run_spot_policy(const SpotMarket& market, const SpotJob& job, std::size_t start,
                        SpotPolicy& policy);

}  // namespace orrery
