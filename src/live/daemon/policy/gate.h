#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/daemon/log/live.h"
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

// Who is kept from the policy for now, and why. Pure.
//
// Of each tenant's jobs, those that its quota covers are entitled: by priority, those that run
// before those that wait, then by age. Others borrow. A tenant without a quota only borrows; where
// there are no quotas at all, everybody is entitled. Then GPUs are counted down: a class of
// entitled jobs is let in, all of it, as long as the classes above leave any; borrowers are let in
// one by one as long as all entitled jobs together leave any. So what is promised to somebody can
// be borrowed only while he does not ask for it.
struct Held {
  JobId job = kNoJob;
  Reason reason{};
};
std::vector<Held> held_back(std::vector<GateJob> jobs, const std::map<std::string, Quota>& quotas,
                            int gpus_total);

}  // namespace orrery
