#pragma once

#include <cstdint>
#include <vector>

#include "model/plan.h"
#include "model/view.h"
#include "scheduling/placement/ledger.h"

namespace orrery {

// Holds each plan of a policy against what every plan must keep, by INVARIANT.
//
//   - a job is granted devices once at most, and stopped once at most, if it runs;
//   - no job that has ended is named; no job is both granted devices and rejected;
//   - a grant names devices that exist on open nodes, each node once, and takes nothing negative;
//   - no device is given twice, but to the members of one group, whose positions differ, or to one
//     guaranteed job and one opportunistic one;
//   - when the plan has been carried out, no node has given more CPUs or memory than it has.
//
// Costs as much as the plan changes. Where all devices that are granted were free, as for most
// plans, the ledger answers; only otherwise the jobs on those nodes are looked at.
class PlanLaws {
 public:
  // Before the plan is carried out; the ledger is that of what jobs hold now.
  void check(const View& view, const Ledger& ledger, const Plan& plan) {
    const bool only_grants = plan.stops().empty() && plan.rejections().empty();
    if (!only_grants || !plan.grants().empty()) check_changes(view, ledger, plan, only_grants);
  }
  // After it has been.
  void check_carried_out(const Ledger& ledger, const Plan& plan) const {
    for (const Grant& grant : plan.grants()) {
      if (takes_host(grant)) check_host(ledger, grant);
    }
  }

 private:
  // What one job has of a node.
  struct Claim {
    std::uint64_t gpus = 0;
    GroupId group = kNoGroup;
    Sharing sharing = Sharing::Exclusive;
    int position = 0;
  };
  // A node on which a grant changes something.
  struct Touched {
    int node = 0;
    std::vector<Claim> claims;  // after the plan
  };

  static bool takes_host(const Grant& grant) { return (grant.cpu_milli | grant.memory_bytes) != 0; }
  void check_changes(const View& view, const Ledger& ledger, const Plan& plan, bool only_grants);
  void check_host(const Ledger& ledger, const Grant& grant) const;
  void note_overdrawn(const Ledger& ledger, const Grant& grant);
  void check_names(const View& view, const Plan& plan);
  void check_all_devices(const View& view, const Plan& plan);
  void touch(const Grant& grant);
  void claim(const Grant& grant);
  void check_claims(const Touched& touched) const;
  std::uint8_t& mark(JobId job);
  void forget_marks(const Plan& plan);

  std::vector<std::uint8_t> marks_;            // by job, all 0 between plans
  std::vector<std::int32_t> touched_by_node_;  // -1: not touched
  std::vector<Touched> touched_;               // memory is used again
  std::size_t touched_count_ = 0;
  std::vector<int> overdrawn_;  // nodes that had given more than they have before the plan
};

}  // namespace orrery
