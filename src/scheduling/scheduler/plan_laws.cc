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

}  // namespace

std::uint8_t& PlanLaws::mark(JobId job) {
  INVARIANT(index(job) < marks_.size(), "a plan names jobs that were submitted");
  return marks_[index(job)];
}

void PlanLaws::check(const View& view, const Ledger& ledger, const Plan& plan) {
  touched_count_ = 0;
  if (plan.grants().empty() && plan.stops().empty() && plan.rejections().empty()) return;
  marks_.resize(view.jobs.size(), 0);
  touched_by_node_.resize(view.cluster->nodes.size(), -1);
  check_stops(view, plan);
  for (const Grant& grant : plan.grants()) {
    std::uint8_t& marked = mark(grant.job);
    INVARIANT((marked & kGranted) == 0, "a plan grants a job devices once");
    marked |= kGranted;
    const Job& job = view.job(grant.job);
    INVARIANT(!is_final(job.state), "a job that has ended is granted nothing");
    if (job.state == JobState::Running && job.held == grant) continue;
    check_grant(view, grant);
    touch(ledger, grant.devices);
  }
  for (const Plan::Verdict& verdict : plan.rejections()) {
    std::uint8_t& marked = mark(verdict.job);
    INVARIANT((marked & (kGranted | kRejected)) == 0, "a job is rejected once, or granted devices");
    marked |= kRejected;
    const JobState state = view.job(verdict.job).state;
    const bool runs = state == JobState::Running && (marked & kStopped) == 0;
    INVARIANT(!is_final(state) && !runs, "a job that is rejected neither runs nor has ended");
  }
  for (const Grant& grant : plan.grants()) claim(grant);
  for (std::size_t i = 0; i < touched_count_; ++i) {
    Touched& touched = touched_[i];
    for (const JobId id : view.on_nodes[static_cast<std::size_t>(touched.node)]) {
      if (marks_[index(id)] != 0) continue;
      const Grant& held = view.job(id).held;
      const auto here =
          std::ranges::find(held.devices, static_cast<NodeId>(touched.node), &NodeShare::node);
      touched.claims.push_back({here->gpus, held.group, held.sharing, held.position});
    }
    check_devices(touched);
    touched_by_node_[static_cast<std::size_t>(touched.node)] = -1;
  }
  for (const Plan::Verdict& verdict : plan.stops()) marks_[index(verdict.job)] = 0;
  for (const Plan::Verdict& verdict : plan.rejections()) marks_[index(verdict.job)] = 0;
  for (const Grant& grant : plan.grants()) marks_[index(grant.job)] = 0;
}

void PlanLaws::check_stops(const View& view, const Plan& plan) {
  for (const Plan::Verdict& verdict : plan.stops()) {
    std::uint8_t& marked = mark(verdict.job);
    INVARIANT(marked == 0, "a plan stops a job once");
    INVARIANT(view.job(verdict.job).state == JobState::Running, "a job that is stopped runs");
    marked = kStopped;
  }
}

void PlanLaws::check_grant(const View& view, const Grant& grant) {
  INVARIANT(!grant.devices.empty(), "a grant names devices");
  INVARIANT(grant.cpu_milli >= 0 && grant.memory_bytes >= 0 && grant.iterations_per_s >= 0,
            "a grant takes nothing negative");
  for (const NodeShare& share : grant.devices) {
    INVARIANT(index(share.node) < view.cluster->nodes.size(), "a node that is granted exists");
    const Node& node = view.cluster->nodes[index(share.node)];
    const int highest = 64 - std::countl_zero(share.gpus);
    INVARIANT(node.open && share.gpus != 0 && highest <= node.gpus,
              "devices that are granted exist, on open nodes");
    const auto same = [&](const NodeShare& other) { return other.node == share.node; };
    INVARIANT(std::ranges::count_if(grant.devices, same) == 1, "a grant names a node once");
  }
}

void PlanLaws::touch(const Ledger& ledger, const Devices& devices) {
  for (const NodeShare& share : devices) {
    std::int32_t& place = touched_by_node_[index(share.node)];
    if (place >= 0) continue;
    place = static_cast<std::int32_t>(touched_count_++);
    if (touched_.size() < touched_count_) touched_.emplace_back();
    Touched& touched = touched_[static_cast<std::size_t>(place)];
    touched.node = static_cast<int>(share.node);
    touched.free_cpu_milli = ledger.free_cpu_milli(touched.node);
    touched.free_memory_bytes = ledger.free_memory_bytes(touched.node);
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

void PlanLaws::check_devices(const Touched& touched) const {
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

// Less than nothing was free before where a node came back with less than jobs hold.
void PlanLaws::check_carried_out(const Ledger& ledger) const {
  for (std::size_t i = 0; i < touched_count_; ++i) {
    const Touched& touched = touched_[i];
    INVARIANT(
        ledger.free_cpu_milli(touched.node) >= std::min<std::int64_t>(0, touched.free_cpu_milli),
        "a node gives no more CPUs than it has");
    INVARIANT(ledger.free_memory_bytes(touched.node) >=
                  std::min<std::int64_t>(0, touched.free_memory_bytes),
              "a node gives no more memory than it has");
  }
}

}  // namespace orrery
