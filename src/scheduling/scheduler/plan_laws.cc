#include "scheduling/scheduler/plan_laws.h"

#include <algorithm>
#include <bit>
#include <cmath>

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

void check_job(const View& view, JobId job) {
  INVARIANT(index(job) < view.jobs.size(), "a plan names jobs that were submitted");
}

void check_grant(const View& view, const Grant& grant) {
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
  ++number_;
  overdrawn_.clear();
  if (only_grants && plan.grants().size() == 1) {  // which names nothing twice
    const Grant& grant = plan.grants().front();
    check_job(view, grant.job);
    if (!changes(view, grant)) return;
    check_grant(view, grant);
    if (all_free(ledger, grant)) {
      if (takes_host(grant)) note_overdrawn(ledger, grant);
      changed_.push_back(&grant);
      return;
    }
  }
  if (marks_.size() < view.jobs.size()) marks_.resize(2 * view.jobs.size(), 0);
  bool exclusive = check_stops(view, ledger, plan);
  exclusive = check_grants(view, ledger, plan) && exclusive;
  check_rejections(view, plan);
  for (const Grant* grant : changed_) exclusive = exclusive && take(ledger, *grant);
  if (!exclusive) check_claims(view, plan);
}

std::uint64_t PlanLaws::mark(const View& view, JobId job, std::uint64_t flag) {
  check_job(view, job);
  std::uint64_t& mark = marks_[index(job)];
  const std::uint64_t before = mark >> kFlagBits == number_ ? mark & ((1U << kFlagBits) - 1) : 0;
  mark = number_ << kFlagBits | before | flag;
  return before;
}

bool PlanLaws::is_marked(JobId job) const { return marks_[index(job)] >> kFlagBits == number_; }

// Each of these is true if the jobs it meets hold their devices alone.
bool PlanLaws::check_stops(const View& view, const Ledger& ledger, const Plan& plan) {
  bool exclusive = true;
  for (const Plan::Verdict& verdict : plan.stops()) {
    INVARIANT(mark(view, verdict.job, kStopped) == 0, "a plan stops a job once");
    const Job& job = view.job(verdict.job);
    INVARIANT(job.state == JobState::Running, "a job that is stopped runs");
    exclusive = release(ledger, job.held) && exclusive;
  }
  return exclusive;
}

bool PlanLaws::check_grants(const View& view, const Ledger& ledger, const Plan& plan) {
  bool exclusive = true;
  for (const Grant& grant : plan.grants()) {
    const std::uint64_t before = mark(view, grant.job, kGranted);
    INVARIANT((before & kGranted) == 0, "a plan grants a job devices once");
    // What a running job holds kept the laws when it was granted.
    if ((before & kStopped) == 0 && !changes(view, grant)) continue;
    check_grant(view, grant);
    changed_.push_back(&grant);
    if (takes_host(grant)) note_overdrawn(ledger, grant);
    const Job& job = view.job(grant.job);
    if (job.state == JobState::Running) exclusive = release(ledger, job.held) && exclusive;
  }
  return exclusive;
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

std::uint64_t& PlanLaws::available(const Ledger& ledger, NodeId node) {
  if (free_.size() <= index(node)) {
    free_.resize(static_cast<std::size_t>(ledger.node_count()));
    free_from_.resize(free_.size(), 0);
  }
  if (free_from_[index(node)] != number_) {
    free_from_[index(node)] = number_;
    free_[index(node)] = ledger.free_mask(static_cast<int>(node));
  }
  return free_[index(node)];
}

bool PlanLaws::release(const Ledger& ledger, const Grant& held) {
  if (held.sharing != Sharing::Exclusive) return false;
  for (const NodeShare& share : held.devices) {
    if (index(share.node) >= static_cast<std::size_t>(ledger.node_count())) return false;
    available(ledger, share.node) |= share.gpus;
  }
  return true;
}

bool PlanLaws::take(const Ledger& ledger, const Grant& grant) {
  if (grant.sharing != Sharing::Exclusive) return false;
  for (const NodeShare& share : grant.devices) {
    INVARIANT(index(share.node) < static_cast<std::size_t>(ledger.node_count()),
              "a node that is granted exists");
    std::uint64_t& free = available(ledger, share.node);
    if (share.gpus == 0 || (share.gpus & ~free) != 0) return false;
    free &= ~share.gpus;
  }
  return true;
}

void PlanLaws::note_overdrawn(const Ledger& ledger, const Grant& grant) {
  for (const NodeShare& share : grant.devices) {
    const int node = static_cast<int>(share.node);
    if (node < ledger.node_count() && is_overdrawn(ledger, node)) overdrawn_.push_back(node);
  }
}

// On each node on which something changes, all that jobs have there after the plan.
void PlanLaws::check_claims(const View& view, const Plan& plan) {
  touched_count_ = 0;
  touched_by_node_.resize(view.cluster->nodes.size(), -1);
  for (const Grant* grant : changed_) touch(view, *grant);
  for (const Grant& grant : plan.grants()) claim(grant);
  for (std::size_t i = 0; i < touched_count_; ++i) {
    Touched& touched = touched_[i];
    const auto node = static_cast<NodeId>(touched.node);
    for (const JobId id : view.on_nodes[index(node)]) {
      if (is_marked(id)) continue;
      const Grant& held = view.job(id).held;
      const auto here = std::ranges::find(held.devices, node, &NodeShare::node);
      touched.claims.push_back({here->gpus, held.group, held.sharing, held.position});
    }
    check_claims(touched);
    touched_by_node_[index(node)] = -1;
  }
}

void PlanLaws::touch(const View& view, const Grant& grant) {
  for (const NodeShare& share : grant.devices) {
    INVARIANT(index(share.node) < view.cluster->nodes.size(), "a node that is granted exists");
    const Node& node = view.cluster->nodes[index(share.node)];
    const int highest = 64 - std::countl_zero(share.gpus);
    INVARIANT(node.open && share.gpus != 0 && highest <= node.gpus,
              "devices that are granted exist, on open nodes");
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

void PlanLaws::check_claims(const Touched& touched) {
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
