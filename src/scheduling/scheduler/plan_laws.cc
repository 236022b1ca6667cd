#include "scheduling/scheduler/plan_laws.h"

#include <algorithm>
#include <bit>

#include "base/invariant.h"

namespace orrery {
namespace {

// How a plan names a job.
constexpr std::uint8_t kGranted = 1;
constexpr std::uint8_t kStopped = 2;
constexpr std::uint8_t kRejected = 4;

bool may_share(Sharing a, Sharing b) {
  return (a == Sharing::Guaranteed && b == Sharing::Opportunistic) ||
         (a == Sharing::Opportunistic && b == Sharing::Guaranteed);
}

bool takes_host(const Grant& grant) { return (grant.cpu_milli | grant.memory_bytes) != 0; }

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

void check_devices(const Ledger& ledger, const Grant& grant) {
  const auto nodes = static_cast<std::size_t>(ledger.node_count());
  INVARIANT(!grant.devices.empty(), "a grant names devices");
  bool rising = true;  // which most are, and then none comes twice
  const NodeShare* last = nullptr;
  for (const NodeShare& share : grant.devices) {
    INVARIANT(index(share.node) < nodes && share.gpus != 0,
              "a grant names devices on nodes that exist");
    rising = rising && (last == nullptr || last->node < share.node);
    last = &share;
  }
  INVARIANT(rising || !names_a_node_twice(grant), "a grant names a node once");
}

}  // namespace

void PlanLaws::check_changes(const View& view, const Ledger& ledger, const Plan& plan) {
  const bool many = plan.grants().size() > 1 || !plan.only_grants();
  if (many) {
    if (marks_.size() < view.jobs.size()) marks_.resize(2 * view.jobs.size());
    for (const Plan::Verdict& verdict : plan.stops()) check_stop(view, verdict.job);
  }
  for (const Grant& grant : plan.grants()) {
    INVARIANT(index(grant.job) < view.jobs.size(), "a plan names jobs that were submitted");
    const std::uint8_t before = many ? std::exchange(marks_[index(grant.job)], kGranted) : 0;
    INVARIANT(before != kGranted, "a plan grants a job devices once");
    const Job& job = view.job(grant.job);
    // What a running job holds kept the laws when it was granted.
    if (before == 0 && job.state == JobState::Running && job.held == grant) continue;
    INVARIANT(!is_final(job.state), "a job that has ended is granted nothing");
    INVARIANT((grant.cpu_milli | grant.memory_bytes) >= 0 && grant.iterations_per_s >= 0,
              "a grant takes nothing negative");
    check_devices(ledger, grant);
    changed_.push_back(&grant);
    if (takes_host(grant)) note_overdrawn(ledger, grant);
  }
  if (!many) return;
  for (const Plan::Verdict& verdict : plan.rejections()) check_rejection(view, verdict.job);
  for (const Plan::Verdict& verdict : plan.stops()) marks_[index(verdict.job)] = 0;
  for (const Grant& grant : plan.grants()) marks_[index(grant.job)] = 0;
  for (const Plan::Verdict& verdict : plan.rejections()) marks_[index(verdict.job)] = 0;
}

void PlanLaws::check_stop(const View& view, JobId id) {
  INVARIANT(index(id) < view.jobs.size(), "a plan names jobs that were submitted");
  INVARIANT(std::exchange(marks_[index(id)], kStopped) == 0, "a plan stops a job once");
  INVARIANT(view.job(id).state == JobState::Running, "a job that is stopped runs");
}

void PlanLaws::check_rejection(const View& view, JobId id) {
  INVARIANT(index(id) < view.jobs.size(), "a plan names jobs that were submitted");
  const std::uint8_t before = std::exchange(marks_[index(id)], kRejected);
  INVARIANT(before == 0 || before == kStopped, "a job is rejected once, or granted devices");
  const JobState state = view.job(id).state;
  const bool runs = state == JobState::Running && before != kStopped;
  INVARIANT(!is_final(state) && !runs, "a job that is rejected neither runs nor has ended");
}

void PlanLaws::note_overdrawn(const Ledger& ledger, const Grant& grant) {
  if (!std::exchange(takes_host_, true)) overdrawn_.clear();
  for (const NodeShare& share : grant.devices) {
    const int node = static_cast<int>(share.node);
    if (is_overdrawn(ledger, node)) overdrawn_.push_back(node);
  }
}

void PlanLaws::check_shared(const Holdings& held, const Ledger& ledger) {
  ++checks_;
  checked_.resize(held.cluster.nodes.size());
  for (const Grant* grant : changed_) {
    if (is_shared(ledger, *grant)) check_claims(held, *grant);
  }
}

// On each node of the grant, all that jobs have there.
void PlanLaws::check_claims(const Holdings& held, const Grant& grant) {
  for (const NodeShare& share : grant.devices) {
    const Node& node = held.cluster.nodes[index(share.node)];
    const int highest = 64 - std::countl_zero(share.gpus);
    INVARIANT(node.open && highest <= node.gpus, "devices that are granted exist, on open nodes");
    if (std::exchange(checked_[index(share.node)], checks_) == checks_) continue;
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

void PlanLaws::check_host(const Ledger& ledger) const {
  for (const Grant* grant : changed_) {
    if (!takes_host(*grant)) continue;
    for (const NodeShare& share : grant->devices) {
      const int node = static_cast<int>(share.node);
      // It was before where a node came back with less than jobs hold.
      INVARIANT(
          !is_overdrawn(ledger, node) || std::ranges::find(overdrawn_, node) != overdrawn_.end(),
          "a node gives no more CPUs or memory than it has");
    }
  }
}

}  // namespace orrery
