#include <algorithm>

#include "scheduling/policy/deadline/slot_planner.h"

namespace orrery {

std::int64_t SlotPlanner::gpu_seconds() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i + 1 < own_.size(); ++i) sum += own_[i] * (at_[i + 1] - at_[i]);
  return sum + own_.back() * (end_ - at_[own_.size() - 1]);
}

std::int64_t SlotPlanner::aligned(std::int64_t at) const {
  if (at >= kNoDeadline_s - slot_) return kNoDeadline_s;
  const std::int64_t since = at - now_;
  std::int64_t slots = since / slot_;
  if (since > 0 && slots * slot_ != since) ++slots;
  return now_ + slots * slot_;
}

// Takes steps in order, drops those that change nothing, and makes one for the deadline.
struct SlotPlanner::Loader {
  SlotPlanner& planner;
  const std::int64_t due;  // the planner's; what is stored at `at` could change that one
  std::int64_t* at;
  int* was;
  std::size_t count = 0;
  bool due_seen = false;

  void put(std::int64_t when, int gpus) {
    at[count] = when;
    was[count++] = gpus;
  }
  void put_due(int gpus) {
    due_seen = true;
    planner.due_is_mine_ = true;
    planner.due_step_ = count;
    put(due, gpus);
  }
  void step(std::int64_t when, int gpus) {
    const bool changes = count == 0 || gpus != was[count - 1];
    if (!due_seen && when >= due) {
      if (when == due && changes) {
        due_seen = true;
        planner.due_step_ = count;
      } else {
        put_due(was[count - 1]);
        if (when == due) return;
      }
    }
    if (changes) put(when, gpus);
  }
};

void SlotPlanner::load(const SlotTimeline& free, const Held* held) {
  const std::size_t most = free.size() + (held == nullptr ? 0 : held->gpus->size()) + 3;
  if (at_.size() < most) {
    at_.resize(2 * most);
    was_.resize(2 * most);
  }
  due_is_mine_ = false;
  due_step_ = 0;
  Loader loader{*this, due_, at_.data(), was_.data(), 0, due_ < now_};
  const auto starts = free.starts();
  const auto counts = free.counts();
  std::size_t k = 0;  // of the free ones
  if (held != nullptr) {
    const auto own = held->gpus->starts();
    const auto own_gpus = held->gpus->counts();
    const std::int64_t end = held->end;
    std::size_t i = 0;  // of its own steps
    int gpus = 0;
    int taken = 0;
    while (true) {
      const std::int64_t at = i < own.size() ? std::min(own[i], end) : end;
      for (; k < starts.size() && starts[k] < at; ++k) {
        gpus = counts[k];
        loader.step(starts[k], gpus + taken);
      }
      if (k < starts.size() && starts[k] == at) gpus = counts[k++];
      if (i < own.size() && own[i] == at) taken = own_gpus[i++];
      if (at == end) break;
      loader.step(at, gpus + taken);
    }
    loader.step(end, gpus);
  }
  for (; k < starts.size(); ++k) loader.step(starts[k], counts[k]);
  if (!loader.due_seen) loader.put_due(loader.was[loader.count - 1]);
  steps_ = loader.count;
}

std::size_t SlotPlanner::find(std::int64_t at) const {
  const auto end = at_.begin() + static_cast<std::ptrdiff_t>(steps_);
  return static_cast<std::size_t>(std::lower_bound(at_.begin(), end, at) - at_.begin());
}

// True if what was free had a step there.
bool SlotPlanner::known(std::int64_t at) const {
  const std::size_t i = find(at);
  return i < steps_ && at_[i] == at && !(due_is_mine_ && i == due_step_);
}

void SlotPlanner::write(SlotTimeline& gpus, SlotTimeline& free) const {
  gpus.clear();
  for (std::size_t i = 0; i < own_.size(); ++i) gpus.append(at_[i], own_[i]);
  free.clear();
  bool back = !gives_back_;
  for (std::size_t i = 0; i < steps_; ++i) {
    if (!back && at_[i] >= end_) {
      back = true;
      free.append(end_, back_);
      if (at_[i] == end_) continue;
    }
    free.append(at_[i], rest_[i]);
  }
  if (!back) free.append(end_, back_);
}

}  // namespace orrery
