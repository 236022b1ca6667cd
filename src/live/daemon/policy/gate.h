#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/daemon/rights/entitlements.h"
#include "model/reason.h"

namespace orrery {

// A job that has not ended, as far as quotas and priorities are concerned.
struct GateJob {
  JobId job = kNoJob;
  std::string_view user{};
  std::string_view tenant{};
  int gpus = 0;
  int gpus_max = 0;  // of an elastic job
  int priority = 0;
  bool runs = false;
};

// Which jobs the policy must not see for now, and why. Pure.
//
// Of each tenant's jobs, those that its quota covers are entitled: by priority, running jobs before
// waiting ones, then by age. Other jobs borrow. A tenant without a quota only borrows; without any
// quota, every job is entitled. Then GPUs are counted down. A priority class of entitled jobs is
// released as a whole if the classes above leave any GPU. Borrowers are released one by one while
// all entitled jobs together leave any GPU. So a quota can be borrowed only while its tenant does
// not ask for it.
struct Held {
  JobId job = kNoJob;
  Reason reason{};
};
std::vector<Held> jobs_to_hold(std::vector<GateJob> jobs, const Entitlements::Quotas& quotas,
                               int gpus_total);

}  // namespace orrery
