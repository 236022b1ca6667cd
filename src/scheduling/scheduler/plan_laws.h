#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/plan.h"
#include "model/view.h"
#include "scheduling/placement/ledger.h"

namespace orrery {

// Holds each plan of a policy against what every plan must keep, by INVARIANT. Costs as much as the
// plan changes: only nodes on which a grant changes something are looked at.
//
//   - a job is granted devices once at most, and stopped once at most, if it runs;
//   - no job that has ended is named; no job is both granted devices and rejected;
//   - a grant names devices that exist on open nodes, each node once, and takes nothing negative;
//   - no device is given twice, but to the members of one group, whose positions differ, or to one
//     guaranteed job and one opportunistic one;
//   - when the plan has been carried out, no node has given more CPUs or memory than it has.
class PlanLaws {
 public:
  // Before the plan is carried out.
  void check(const View& view, const Ledger& ledger, const Plan& plan);
  // After it has been.
  void check_carried_out(const Ledger& ledger) const;

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
    std::int64_t free_cpu_milli = 0;
    std::int64_t free_memory_bytes = 0;
    std::vector<Claim> claims;  // after the plan
  };

  void check_stops(const View& view, const Plan& plan);
  void check_grant(const View& view, const Grant& grant);
  void touch(const Ledger& ledger, const Devices& devices);
  void claim(const Grant& grant);
  void check_devices(const Touched& touched) const;
  std::uint8_t& mark(JobId job);

  std::vector<std::uint8_t> marks_;            // by job, all 0 between plans
  std::vector<std::int32_t> touched_by_node_;  // -1: not touched
  std::vector<Touched> touched_;               // memory is used again
  std::size_t touched_count_ = 0;
};

}  // namespace orrery
