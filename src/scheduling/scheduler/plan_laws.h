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
// Costs as much as the plan changes. The ledger counts what is taken although it is not free; only
// where that has happened are the jobs on a node looked at.
class PlanLaws {
 public:
  // Before the plan is carried out; the ledger is that of what jobs hold now. Answers the grants
  // that change what their jobs hold, which stay good as long as the plan.
  std::span<const Grant* const> check(const View& view, const Ledger& ledger, const Plan& plan) {
    changed_.clear();
    takes_host_ = false;
    second_takes_ = ledger.second_takes();
    if (!plan.grants().empty() || !plan.only_grants()) check_changes(view, ledger, plan);
    return changed_;
  }

  // What jobs hold when the plan has been carried out.
  struct Holdings {
    const Cluster& cluster;
    JobList jobs;
    std::span<const std::vector<JobId>> on_nodes;  // which jobs run there
  };
  void check_carried_out(const Holdings& held, const Ledger& ledger) {
    if (ledger.second_takes() != second_takes_) check_shared(held, ledger);
    if (takes_host_) check_host(ledger);
  }

 private:
  // What one job has of a node.
  struct Claim {
    std::uint64_t gpus = 0;
    GroupId group = kNoGroup;
    Sharing sharing = Sharing::Exclusive;
    int position = 0;
  };

  // Devices that do not exist, or are on a node that is not open, are never free and count as
  // shared.
  static bool is_shared(const Ledger& ledger, const Grant& grant) {
    for (const NodeShare& share : grant.devices) {
      if ((share.gpus & ledger.shared_mask(static_cast<int>(share.node))) != 0) return true;
    }
    return false;
  }
  void check_changes(const View& view, const Ledger& ledger, const Plan& plan);
  void check_stop(const View& view, JobId id);
  void check_rejection(const View& view, JobId id);
  void check_shared(const Holdings& held, const Ledger& ledger);
  void check_host(const Ledger& ledger) const;
  void note_overdrawn(const Ledger& ledger, const Grant& grant);
  void check_claims(const Holdings& held, const Grant& grant);
  void check_claims() const;

  std::vector<std::uint8_t> marks_;     // by job: how the plan names it; 0 between plans
  std::vector<const Grant*> changed_;   // grants of the last plan that change something
  bool takes_host_ = false;             // some of these takes CPUs or memory
  std::uint64_t second_takes_ = 0;      // of the ledger, before the plan was carried out
  std::vector<int> overdrawn_;          // nodes that had given more than they have before
  std::uint64_t checks_ = 0;            // of shared devices
  std::vector<std::uint64_t> checked_;  // by node: the last of these that looked at it
  std::vector<Claim> claims_;           // of one node
};

}  // namespace orrery
