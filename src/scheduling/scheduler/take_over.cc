// What happens when another policy takes over, or a scheduler starts from a log.
#include <algorithm>
#include <bit>
#include <utility>

#include "scheduling/scheduler/held_shape.h"
#include "scheduling/scheduler/scheduler.h"

namespace orrery {
namespace {

// True if no other job is on its devices.
bool is_alone(const State& state, const Job& job) {
  return std::ranges::all_of(job.held.devices, [&](const NodeShare& share) {
    return std::ranges::all_of(state.on_nodes()[index(share.node)], [&](JobId other) {
      if (other == job.spec->id) return true;
      const Devices& held = state.job(other).held.devices;
      const auto there = std::ranges::find(held, share.node, &NodeShare::node);
      return (there->gpus & share.gpus) == 0;
    });
  });
}

}  // namespace

void Scheduler::recover(const Event& event) {
  now_ = event.time;
  sequence_ = event.sequence + 1;
  state_.apply(event);
  note_reported(event);
  if (event.kind == EventKind::Submitted) sight_.push_back({});
}

void Scheduler::restore(Job job, Reason::Code reported) {
  state_.restore(std::move(job));
  reported_.push_back(reported);
  sight_.push_back({});
}

bool Scheduler::is_on_closed_node(const Job& job) const {
  return std::ranges::any_of(job.held.devices, [&](const NodeShare& share) {
    return index(share.node) >= cluster_->nodes.size() || !cluster_->nodes[index(share.node)].open;
  });
}

void Scheduler::take_over(Policy& policy, Packer& packer, const Cluster& cluster) {
  policy_ = &policy;
  packer_ = &packer;
  cluster_ = &cluster;
  state_.reserve_nodes(cluster.nodes.size());
  arrived_.clear();
  ended_.clear();
  freed_.clear();
  taken_over_ = true;
  detach();
  for (std::size_t i = 0; i < state_.jobs().size(); ++i) {
    const bool away = sight_[i] == Sight::OnHold || sight_[i] == Sight::Detached;
    if (!away && !is_final(state_.jobs()[i].state)) arrive(static_cast<JobId>(i));
  }
  for (const JobId id : arrived_) {
    const Job& job = state_.job(id);
    if (job.state == JobState::Running) packer.current().take(job.held.devices, held_shape(job));
  }
}

// Those on nodes that are not open, and those on the same devices as them.
void Scheduler::detach() {
  detached_ = 0;
  std::vector<std::uint64_t> masks(state_.on_nodes().size());
  const auto meets = [&](const NodeShare& share) {
    return (masks[index(share.node)] & share.gpus) != 0;
  };
  for (const JobId id : state_.running()) sight_[index(id)] = Sight::Shown;
  for (bool more = true; std::exchange(more, false);) {
    for (const JobId id : state_.running()) {
      const Job& job = state_.job(id);
      if (sight_[index(id)] == Sight::Detached) continue;
      if (!is_on_closed_node(job) && std::ranges::none_of(job.held.devices, meets)) continue;
      more = true;
      sight_[index(id)] = Sight::Detached;
      ++detached_;
      packer_->withhold(job.held.devices, held_shape(job));
      for (const NodeShare& share : job.held.devices) masks[index(share.node)] |= share.gpus;
    }
  }
}

// Opportunistic ones are asked first, so that the job they are beside can stay.
void Scheduler::settle_adopted() {
  std::vector<JobId> running;
  std::ranges::copy_if(arrived_, std::back_inserter(running),
                       [this](JobId job) { return state_.job(job).state == JobState::Running; });
  std::ranges::stable_sort(running, std::ranges::greater{},
                           [this](JobId job) { return state_.job(job).held.sharing; });
  const View view = this->view(now_);
  acting_ = true;
  for (const JobId id : running) {
    if (adopt(view, id) || !packer_->not_here(state_.job(id).shape)) continue;
    std::erase(arrived_, id);
    queue_not_here(id);
  }
  acting_ = false;
  freed_.clear();
}

// True if it goes on.
bool Scheduler::adopt(const View& view, JobId id) {
  const Job& job = state_.job(id);
  Grant grant = job.held;
  const bool goes_on = !packer_->not_here(job.shape) && policy_->adopt(view, *packer_, id, grant);
  if (goes_on && grant == job.held) return true;
  if (goes_on && fits_in_place(job, grant)) {
    parts_.executor.perform(
        {.kind = Action::Kind::Regroup, .job = id, .grant = &grant, .reason = {}});
    return true;
  }
  parts_.executor.perform({.kind = Action::Kind::Pause,
                           .job = id,
                           .grant = nullptr,
                           .reason = {.code = Reason::Code::PolicyChanged}});
  return false;
}

// True if it can hold this instead, on the same devices.
bool Scheduler::fits_in_place(const Job& job, const Grant& grant) {
  const bool shared = job.held.sharing != Sharing::Exclusive;
  if (shared && grant.sharing != job.held.sharing && !is_alone(state_, job)) return false;
  if (grant.cpu_milli <= job.held.cpu_milli && grant.memory_bytes <= job.held.memory_bytes) {
    return true;
  }
  Ledger& ledger = packer_->current();
  const Ledger::Mark mark = ledger.mark();
  ledger.release(job.held.devices, held_shape(job));
  Shape wanted = held_shape(job);
  wanted.cpu_milli = grant.cpu_milli;
  wanted.memory_bytes = grant.memory_bytes;
  const bool fits = std::ranges::all_of(job.held.devices, [&](const NodeShare& share) {
    return ledger.fits_besides_gpus(static_cast<int>(share.node), std::popcount(share.gpus),
                                    wanted);
  });
  ledger.undo(mark);
  return fits;
}

}  // namespace orrery
