#include "scheduling/scheduler/plan_laws.h"

#include <algorithm>
#include <bit>

#include "base/invariant.h"

namespace orrery {
namespace {

// Flags of a job in a plan; the rest of a mark is the number of the plan.
constexpr std::uint64_t kGranted = 1;
constexpr std::uint64_t kStopped = 2;
constexpr std::uint64_t kRejected = 4;
constexpr int kFlagBits = 3;

bool may_share(Sharing a, Sharing b) {
  return (a == Sharing::Guaranteed && b == Sharing::Opportunistic) ||
         (a == Sharing::Opportunistic && b == Sharing::Guaranteed);
}

bool is_overdrawn(const Ledger& ledger, int node) {
  return (ledger.free_cpu_milli(node) | ledger.free_memory_bytes(node)) < 0;
}

bool names_a_node_twice(const Grant& grant) {
  for (const NodeShare& share : grant.devices) {
    const auto same = [&](const NodeShare& other) { return other.node == share.node; };
    if (std::ranges::count_if(grant.devices, same) > 1) return true;
  }
  return false;
}

}  // namespace

void PlanLaws::check_changes(const View& view, const Ledger& ledger, const Plan& plan) {
  overdrawn_.clear();
  ++number_;
  if (plan.grants().size() == 1 && !names_others(plan)) {  // it names nothing twice
    return check_grant(view, ledger, plan.grants().front(), false);
  }
  if (marks_.size() < view.jobs.size()) marks_.resize(2 * view.jobs.size(), 0);
  check_stops(view, plan);
  check_grants(view, ledger, plan);
  check_rejections(view, plan);
}

std::uint64_t PlanLaws::mark(const View& view, JobId job, std::uint64_t flag) {
  INVARIANT(index(job) < view.jobs.size(), "a plan names jobs that were submitted");
  std::uint64_t& mark = marks_[index(job)];
  const std::uint64_t before = mark >> kFlagBits == number_ ? mark & ((1U << kFlagBits) - 1) : 0;
  mark = number_ << kFlagBits | before | flag;
  return before;
}

void PlanLaws::check_stops(const View& view, const Plan& plan) {
  for (const Plan::Verdict& verdict : plan.stops()) {
    INVARIANT(mark(view, verdict.job, kStopped) == 0, "a plan stops a job once");
    INVARIANT(view.job(verdict.job).state == JobState::Running, "a job that is stopped runs");
  }
}

void PlanLaws::check_grants(const View& view, const Ledger& ledger, const Plan& plan) {
  for (const Grant& grant : plan.grants()) {
    const std::uint64_t before = mark(view, grant.job, kGranted);
    INVARIANT((before & kGranted) == 0, "a plan grants a job devices once");
    check_grant(view, ledger, grant, (before & kStopped) != 0);
  }
}

void PlanLaws::check_grant(const View& view, const Ledger& ledger, const Grant& grant,
                           bool stopped) {
  INVARIANT(index(grant.job) < view.jobs.size(), "a plan names jobs that were submitted");
  const Job& job = view.job(grant.job);
  // What a running job holds kept the laws when it was granted.
  if (!stopped && job.state == JobState::Running && job.held == grant) return;
  INVARIANT(!is_final(job.state), "a job that has ended is granted nothing");
  INVARIANT(!grant.devices.empty(), "a grant names devices");
  INVARIANT((grant.cpu_milli | grant.memory_bytes) >= 0 && grant.iterations_per_s >= 0,
            "a grant takes nothing negative");
  for (const NodeShare& share : grant.devices) {
    INVARIANT(index(share.node) < static_cast<std::size_t>(ledger.node_count()) && share.gpus != 0,
              "a grant names devices on nodes that exist");
  }
  INVARIANT(grant.devices.size() == 1 || !names_a_node_twice(grant), "a grant names a node once");
  changed_.push_back(&grant);
  if (takes_host(grant)) note_overdrawn(ledger, grant);
}

void PlanLaws::check_rejections(const View& view, const Plan& plan) {
  for (const Plan::Verdict& verdict : plan.rejections()) {
    const std::uint64_t before = mark(view, verdict.job, kRejected);
    INVARIANT((before & ~kStopped) == 0, "a job is rejected once, or granted devices");
    const JobState state = view.job(verdict.job).state;
    const bool runs = state == JobState::Running && (before & kStopped) == 0;
    INVARIANT(!is_final(state) && !runs, "a job that is rejected neither runs nor has ended");
  }
}

void PlanLaws::note_overdrawn(const Ledger& ledger, const Grant& grant) {
  for (const NodeShare& share : grant.devices) {
    const int node = static_cast<int>(share.node);
    if (is_overdrawn(ledger, node)) overdrawn_.push_back(node);
  }
}

// On each node of the grant, all that jobs have there.
void PlanLaws::check_claims(const Holdings& held, const Grant& grant) {
  claims_number_.resize(held.cluster.nodes.size(), 0);
  for (const NodeShare& share : grant.devices) {
    const Node& node = held.cluster.nodes[index(share.node)];
    const int highest = 64 - std::countl_zero(share.gpus);
    INVARIANT(node.open && highest <= node.gpus, "devices that are granted exist, on open nodes");
    if (std::exchange(claims_number_[index(share.node)], number_) == number_) continue;
    claims_.clear();
    for (const JobId job : held.on_nodes[index(share.node)]) {
      const Grant& other = held.jobs[index(job)].held;
      const auto here = std::ranges::find(other.devices, share.node, &NodeShare::node);
      claims_.push_back({here->gpus, other.group, other.sharing, other.position});
    }
    check_claims();
  }
}

void PlanLaws::check_claims() const {
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    const Claim& claim = claims_[i];
    if ((claim.gpus & taken) == 0) {
      taken |= claim.gpus;
      continue;
    }
    for (std::size_t j = 0; j < i; ++j) {
      const Claim& other = claims_[j];
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
