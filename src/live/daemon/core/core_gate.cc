#include <algorithm>

#include "live/daemon/core/core.h"
#include "live/daemon/policy/gate.h"
#include "live/daemon/policy/gpu_limits.h"

namespace orrery {

// Nothing to do, and nothing done, while no user or tenant has a quota, a GPU limit or a priority.
void Core::gate() {
  const bool held_any = std::ranges::find(held_by_gate_, true) != held_by_gate_.end();
  const bool limited = book_.entitlements().limits_gpus();
  if (book_.quotas().empty() && !limited && !priorities_ && !held_any) return;
  // A policy that has a way with those below all others must see them to use it.
  const int lowest = policy_.policy->knows_opportunistic() ? 0 : -kPriorityMax;
  std::vector<GateJob> jobs;
  for (std::size_t i = 0; i < book_.jobs().size(); ++i) {
    const auto id = static_cast<JobId>(i);
    const Job& job = state().job(id);
    if (is_final(job.state) || waits_for_others_[i] || waits_for_node_[i]) continue;
    // Nobody makes room for a job that finds no nodes anyway.
    if (book_.job(id).told == Reason::Code::NotHere) continue;
    const JobRequest& request = *book_.job(id).request;
    jobs.push_back({.job = id,
                    .user = request.user,
                    .tenant = tenant_of(request),
                    .gpus = request.gpus,
                    .gpus_max = request.gpus_max,
                    .priority = std::max(lowest, request.priority),
                    .runs = job.state == JobState::Running});
  }
  std::vector<Held> held = take_over_limit(jobs, book_.entitlements());
  std::ranges::move(held_back(std::move(jobs), book_.quotas(), book_.cluster().gpus_total()),
                    std::back_inserter(held));
  std::vector<bool> now_held(book_.jobs().size());
  held_by_gate_.resize(book_.jobs().size());
  for (const Held& one : held) {
    now_held[index(one.job)] = true;
    if (held_by_gate_[index(one.job)]) continue;
    if (state().job(one.job).state == JobState::Running) pause_job(one.job, one.reason);
    scheduler_->hold_back(one.job, one.reason);
  }
  for (std::size_t i = 0; i < now_held.size(); ++i) {
    const auto id = static_cast<JobId>(i);
    if (held_by_gate_[i] && !now_held[i] && !waits_for_node_[i] &&
        !is_final(state().job(id).state)) {
      scheduler_->let_in(id);
    }
  }
  held_by_gate_ = std::move(now_held);
}

// A job that has left a lost node, or was moved from it, cannot begin before that node's fence has
// passed. It must not hold devices so long, so the policy does not see it.
void Core::wait_for_lost_nodes() {
  const std::vector<JobId> behind = jobs_behind_lost_nodes(book_);
  waits_for_node_.resize(book_.jobs().size());
  for (std::size_t i = 0; i < waits_for_node_.size(); ++i) {
    const auto id = static_cast<JobId>(i);
    if (!waits_for_node_[i] || std::ranges::binary_search(behind, id)) continue;
    waits_for_node_[i] = false;
    if (!is_final(state().job(id).state)) scheduler_->let_in(id);
  }
  const Reason reason{.code = Reason::Code::NodeLost};
  for (const JobId id : behind) {
    if (waits_for_node_[index(id)] || is_final(state().job(id).state)) continue;
    if (state().job(id).state == JobState::Running) pause_job(id, reason);
    scheduler_->hold_back(id, reason);
    waits_for_node_[index(id)] = true;
  }
}

}  // namespace orrery
