#include "scheduling/scheduler/plan_laws.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr std::uint8_t kGranted = 1;
constexpr std::uint8_t kStopped = 2;
constexpr std::uint8_t kRejected = 4;

bool may_share(Sharing a, Sharing b) {
  return (a == Sharing::Guaranteed && b == Sharing::Opportunistic) ||
         (a == Sharing::Opportunistic && b == Sharing::Guaranteed);
}

bool changes(const View& view, const Grant& grant) {
  const Job& job = view.job(grant.job);
  return job.state != JobState::Running || job.held != grant;
}

bool is_overdrawn(const Ledger& ledger, int node) {
  return (ledger.free_cpu_milli(node) | ledger.free_memory_bytes(node)) < 0;
}

// True if all devices of the grant are free, and so exist on open nodes.
bool all_free(const Ledger& ledger, const Grant& grant) {
  for (const NodeShare& share : grant.devices) {
    INVARIANT(index(share.node) < static_cast<std::size_t>(ledger.node_count()),
              "a node that is granted exists");
    if (share.gpus == 0 || (share.gpus & ~ledger.free_mask(static_cast<int>(share.node))) != 0) {
      return false;
    }
  }
  return true;
}

void check_grant(const View& view, const Grant& grant) {
  INVARIANT(index(grant.job) < view.jobs.size(), "a plan names jobs that were submitted");
  INVARIANT(!is_final(view.job(grant.job).state), "a job that has ended is granted nothing");
  INVARIANT(!grant.devices.empty(), "a grant names devices");
  INVARIANT((grant.cpu_milli | grant.memory_bytes) >= 0 && grant.iterations_per_s >= 0,
            "a grant takes nothing negative");
  if (grant.devices.size() == 1) return;
  for (const NodeShare& share : grant.devices) {
    const auto same = [&](const NodeShare& other) { return other.node == share.node; };
    INVARIANT(std::ranges::count_if(grant.devices, same) == 1, "a grant names a node once");
  }
}

}  // namespace

void PlanLaws::check_changes(const View& view, const Ledger& ledger, const Plan& plan,
                             bool only_grants) {
  overdrawn_.clear();
  const auto grants = plan.grants();
  // A single grant names nothing twice.
  bool alone = only_grants && grants.size() == 1;
  for (const Grant& grant : grants) {
    check_grant(view, grant);
    alone = alone && all_free(ledger, grant);
    if (takes_host(grant)) note_overdrawn(ledger, grant);
  }
  if (alone) return;
  check_names(view, plan);
  check_all_devices(view, plan);
  forget_marks(plan);
}

void PlanLaws::note_overdrawn(const Ledger& ledger, const Grant& grant) {
  for (const NodeShare& share : grant.devices) {
    const int node = static_cast<int>(share.node);
    if (node < ledger.node_count() && is_overdrawn(ledger, node)) overdrawn_.push_back(node);
  }
}

std::uint8_t& PlanLaws::mark(JobId job) {
  INVARIANT(index(job) < marks_.size(), "a plan names jobs that were submitted");
  return marks_[index(job)];
}

void PlanLaws::forget_marks(const Plan& plan) {
  for (const Plan::Verdict& verdict : plan.stops()) marks_[index(verdict.job)] = 0;
  for (const Plan::Verdict& verdict : plan.rejections()) marks_[index(verdict.job)] = 0;
  for (const Grant& grant : plan.grants()) marks_[index(grant.job)] = 0;
}

void PlanLaws::check_names(const View& view, const Plan& plan) {
  if (marks_.size() < view.jobs.size()) marks_.resize(view.jobs.size(), 0);
  for (const Plan::Verdict& verdict : plan.stops()) {
    std::uint8_t& marked = mark(verdict.job);
    INVARIANT(marked == 0, "a plan stops a job once");
    INVARIANT(view.job(verdict.job).state == JobState::Running, "a job that is stopped runs");
    marked = kStopped;
  }
  for (const Grant& grant : plan.grants()) {
    std::uint8_t& marked = mark(grant.job);
    INVARIANT((marked & kGranted) == 0, "a plan grants a job devices once");
    marked |= kGranted;
  }
  for (const Plan::Verdict& verdict : plan.rejections()) {
    std::uint8_t& marked = mark(verdict.job);
    INVARIANT((marked & (kGranted | kRejected)) == 0, "a job is rejected once, or granted devices");
    marked |= kRejected;
    const JobState state = view.job(verdict.job).state;
    const bool runs = state == JobState::Running && (marked & kStopped) == 0;
    INVARIANT(!is_final(state) && !runs, "a job that is rejected neither runs nor has ended");
  }
}

// On each node on which something changes, all that jobs have there after the plan.
void PlanLaws::check_all_devices(const View& view, const Plan& plan) {
  touched_count_ = 0;
  touched_by_node_.resize(view.cluster->nodes.size(), -1);
  for (const Grant& grant : plan.grants()) {
    if (!changes(view, grant)) continue;
    for (const NodeShare& share : grant.devices) {
      INVARIANT(index(share.node) < view.cluster->nodes.size(), "a node that is granted exists");
      const Node& node = view.cluster->nodes[index(share.node)];
      const int highest = 64 - std::countl_zero(share.gpus);
      INVARIANT(node.open && share.gpus != 0 && highest <= node.gpus,
                "devices that are granted exist, on open nodes");
    }
    touch(grant);
  }
  for (const Grant& grant : plan.grants()) claim(grant);
  for (std::size_t i = 0; i < touched_count_; ++i) {
    Touched& touched = touched_[i];
    const auto node = static_cast<NodeId>(touched.node);
    for (const JobId id : view.on_nodes[index(node)]) {
      if (marks_[index(id)] != 0) continue;
      const Grant& held = view.job(id).held;
      const auto here = std::ranges::find(held.devices, node, &NodeShare::node);
      touched.claims.push_back({here->gpus, held.group, held.sharing, held.position});
    }
    check_claims(touched);
    touched_by_node_[index(node)] = -1;
  }
}

void PlanLaws::touch(const Grant& grant) {
  for (const NodeShare& share : grant.devices) {
    std::int32_t& place = touched_by_node_[index(share.node)];
    if (place >= 0) continue;
    place = static_cast<std::int32_t>(touched_count_++);
    if (touched_.size() < touched_count_) touched_.emplace_back();
    Touched& touched = touched_[static_cast<std::size_t>(place)];
    touched.node = static_cast<int>(share.node);
    touched.claims.clear();
  }
}

void PlanLaws::claim(const Grant& grant) {
  for (const NodeShare& share : grant.devices) {
    const std::int32_t place = touched_by_node_[index(share.node)];
    if (place < 0) continue;
    touched_[static_cast<std::size_t>(place)].claims.push_back(
        {share.gpus, grant.group, grant.sharing, grant.position});
  }
}

void PlanLaws::check_claims(const Touched& touched) const {
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < touched.claims.size(); ++i) {
    const Claim& claim = touched.claims[i];
    if ((claim.gpus & taken) == 0) {
      taken |= claim.gpus;
      continue;
    }
    for (std::size_t j = 0; j < i; ++j) {
      const Claim& other = touched.claims[j];
      if ((claim.gpus & other.gpus) == 0) continue;
      const bool group = claim.sharing == Sharing::Interleaved &&
                         other.sharing == Sharing::Interleaved && claim.group != kNoGroup &&
                         claim.group == other.group;
      INVARIANT(group || may_share(claim.sharing, other.sharing),
                "a device is given to one job, to a group, or to a guaranteed and an "
                "opportunistic job");
      INVARIANT(!group || claim.position != other.position,
                "members of a group have different positions");
    }
    taken |= claim.gpus;
  }
}

void PlanLaws::check_host(const Ledger& ledger, const Grant& grant) const {
  for (const NodeShare& share : grant.devices) {
    const int node = static_cast<int>(share.node);
    if (!is_overdrawn(ledger, node)) continue;
    // It was before where a node came back with less than jobs hold.
    INVARIANT(std::ranges::find(overdrawn_, node) != overdrawn_.end(),
              "a node gives no more CPUs or memory than it has");
  }
}

}  // namespace orrery
