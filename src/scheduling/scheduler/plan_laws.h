#pragma once

#include <cstdint>
#include <span>
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
//   - after the plan, no device is given twice, but to the members of one group, whose positions
//     differ, or to one guaranteed job and one opportunistic one;
//   - and no node has given more CPUs or memory than it has.
//
// Costs as much as the plan changes. The ledger knows which devices have several jobs; the jobs on
// a node are looked at only where a grant has one of these.
class PlanLaws {
 public:
  // Before the plan is carried out; the ledger is that of what jobs hold now. Answers the grants
  // that change what their jobs hold, which stay good as long as the plan.
  std::span<const Grant* const> check(const View& view, const Ledger& ledger, const Plan& plan) {
    changed_.clear();
    if (!plan.grants().empty() || names_others(plan)) check_changes(view, ledger, plan);
    return changed_;
  }

  // What jobs hold when the plan has been carried out.
  struct Holdings {
    const Cluster& cluster;
    std::span<const Job> jobs;
    std::span<const std::vector<JobId>> on_nodes;  // which jobs run there
  };
  void check_carried_out(const Holdings& held, const Ledger& ledger) {
    for (const Grant* grant : changed_) {
      if (is_shared(ledger, *grant)) check_claims(held, *grant);
      if (takes_host(*grant)) check_host(ledger, *grant);
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

  static bool names_others(const Plan& plan) {
    return !plan.stops().empty() || !plan.rejections().empty();
  }
  static bool takes_host(const Grant& grant) { return (grant.cpu_milli | grant.memory_bytes) != 0; }
  // Devices that do not exist, or are on a node that is not open, are never free and count as
  // shared.
  static bool is_shared(const Ledger& ledger, const Grant& grant) {
    for (const NodeShare& share : grant.devices) {
      if ((share.gpus & ledger.shared_mask(static_cast<int>(share.node))) != 0) return true;
    }
    return false;
  }
  void check_changes(const View& view, const Ledger& ledger, const Plan& plan);
  void check_stops(const View& view, const Plan& plan);
  void check_grants(const View& view, const Ledger& ledger, const Plan& plan);
  void check_grant(const View& view, const Ledger& ledger, const Grant& grant, bool stopped);
  void check_rejections(const View& view, const Plan& plan);
  void check_host(const Ledger& ledger, const Grant& grant) const;
  void note_overdrawn(const Ledger& ledger, const Grant& grant);
  std::uint64_t mark(const View& view, JobId job, std::uint64_t flag);  // answers those before
  void check_claims(const Holdings& held, const Grant& grant);
  void check_claims() const;

  // What a plan before has left in the arrays is stale by its number.
  std::uint64_t number_ = 0;
  std::vector<std::uint64_t> marks_;          // by job
  std::vector<std::uint64_t> claims_number_;  // by node: the plan in which its claims were checked
  std::vector<const Grant*> changed_;         // grants of the last plan that change something
  std::vector<int> overdrawn_;                // nodes that had given more than they have before
  std::vector<Claim> claims_;                 // of one node
};

}  // namespace orrery
