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
//   - no device is given twice, but to the members of one group, whose positions differ, or to one
//     guaranteed job and one opportunistic one;
//   - when the plan has been carried out, no node has given more CPUs or memory than it has.
//
// Costs as much as the plan changes. Where jobs hold their devices alone, masks of what is free
// answer; the jobs on a node are looked at only where devices are shared.
class PlanLaws {
 public:
  // Before the plan is carried out; the ledger is that of what jobs hold now. Answers the grants
  // that change what their jobs hold, which stay good as long as the plan.
  std::span<const Grant* const> check(const View& view, const Ledger& ledger, const Plan& plan) {
    changed_.clear();
    const bool only_grants = plan.stops().empty() && plan.rejections().empty();
    if (!only_grants || !plan.grants().empty()) check_changes(view, ledger, plan, only_grants);
    return changed_;
  }
  // After it has been.
  void check_carried_out(const Ledger& ledger) const {
    for (const Grant* grant : changed_) {
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
  // A node on which a grant changes something.
  struct Touched {
    int node = 0;
    std::vector<Claim> claims;  // after the plan
  };

  static bool takes_host(const Grant& grant) { return (grant.cpu_milli | grant.memory_bytes) != 0; }
  void check_changes(const View& view, const Ledger& ledger, const Plan& plan, bool only_grants);
  bool check_stops(const View& view, const Ledger& ledger, const Plan& plan);
  bool check_grants(const View& view, const Ledger& ledger, const Plan& plan);
  void check_rejections(const View& view, const Plan& plan);
  bool release(const Ledger& ledger, const Grant& held);
  bool take(const Ledger& ledger, const Grant& grant);
  std::uint64_t& available(const Ledger& ledger, NodeId node);
  void check_host(const Ledger& ledger, const Grant& grant) const;
  void note_overdrawn(const Ledger& ledger, const Grant& grant);
  std::uint64_t mark(const View& view, JobId job, std::uint64_t flag);  // answers those before
  bool is_marked(JobId job) const;

  void check_claims(const View& view, const Plan& plan);
  void touch(const View& view, const Grant& grant);
  void claim(const Grant& grant);
  static void check_claims(const Touched& touched);

  // What a plan before has left in the arrays is stale by its number.
  std::uint64_t number_ = 0;
  std::vector<std::uint64_t> marks_;      // by job
  std::vector<const Grant*> changed_;     // grants of the last plan that change something
  std::vector<std::uint64_t> free_;       // by node, after what is let go of
  std::vector<std::uint64_t> free_from_;  // by node: the plan in which it was asked for
  std::vector<int> overdrawn_;            // nodes that had given more than they have before

  std::vector<std::int32_t> touched_by_node_;  // -1: not touched
  std::vector<Touched> touched_;               // memory is used again
  std::size_t touched_count_ = 0;
};

}  // namespace orrery
