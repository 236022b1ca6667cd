#include "live/daemon/policy/held_jobs.h"

#include <algorithm>
#include <utility>

#include "live/daemon/agents/fences.h"
#include "live/daemon/policy/gate.h"
#include "live/daemon/policy/gpu_limits.h"

namespace orrery {

void HeldJobs::clear() {
  by_limits_.clear();
  waits_for_node_.clear();
}

bool HeldJobs::holds_any() const { return std::ranges::find(by_limits_, true) != by_limits_.end(); }

bool HeldJobs::take_again() { return std::exchange(again_, false) && holds_any(); }

void HeldJobs::apply_limits() {
  const bool limited = book_.entitlements().limits_gpus();
  if (book_.entitlements().quotas().empty() && !limited && !priorities_ && !holds_any()) return;
  // A policy that has its own rule for jobs below all others must see them to use it.
  const int lowest = host_.knows_opportunistic() ? 0 : -kPriorityMax;
  std::vector<GateJob> jobs;
  for (std::size_t i = 0; i < book_.jobs().size(); ++i) {
    const auto id = static_cast<JobId>(i);
    const Job& job = host_.state().job(id);
    if (is_final(job.state) || dependencies_.is_waiting(id) || waits_for_node(id)) continue;
    // No job gives up capacity for one that fits no node.
    if (book_.job(id).queued_for == Reason::Code::NotHere) continue;
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
  std::ranges::move(
      jobs_to_hold(std::move(jobs), book_.entitlements().quotas(), book_.cluster().gpus_total()),
      std::back_inserter(held));
  std::vector<bool> now_held(book_.jobs().size());
  by_limits_.resize(book_.jobs().size());
  for (const Held& one : held) {
    now_held[index(one.job)] = true;
    if (by_limits_[index(one.job)]) continue;
    if (host_.state().job(one.job).state == JobState::Running) host_.pause(one.job, one.reason);
    host_.hold(one.job, one.reason);
  }
  for (std::size_t i = 0; i < now_held.size(); ++i) {
    const auto id = static_cast<JobId>(i);
    if (by_limits_[i] && !now_held[i] && !waits_for_node(id) && !is_final_job(id)) {
      host_.release(id);
    }
  }
  by_limits_ = std::move(now_held);
}

void HeldJobs::hold_behind_lost_nodes() {
  const std::vector<JobId> behind = jobs_behind_lost_nodes(book_);
  waits_for_node_.resize(book_.jobs().size());
  for (std::size_t i = 0; i < waits_for_node_.size(); ++i) {
    const auto id = static_cast<JobId>(i);
    if (!waits_for_node_[i] || std::ranges::binary_search(behind, id)) continue;
    waits_for_node_[i] = false;
    if (!is_final_job(id)) host_.release(id);
  }
  const Reason reason{.code = Reason::Code::NodeLost};
  for (const JobId id : behind) {
    if (waits_for_node_[index(id)] || is_final_job(id)) continue;
    if (host_.state().job(id).state == JobState::Running) host_.pause(id, reason);
    host_.hold(id, reason);
    waits_for_node_[index(id)] = true;
  }
}

}  // namespace orrery
