#include "scheduling/policy/deadline/free_gpus.h"

#include <algorithm>

namespace orrery {

std::size_t FreeGpus::step_at(Time time) const {
  const auto after = std::ranges::upper_bound(at_, time);
  return after == at_.begin() ? 0 : static_cast<std::size_t>(after - at_.begin()) - 1;
}

int FreeGpus::least(Time from, Time until) const {
  std::size_t i = step_at(from);
  int least = free_[i];
  for (++i; i < at_.size() && at_[i] < until; ++i) least = std::min(least, free_[i]);
  return least;
}

Time FreeGpus::first_below(Time from, int gpus) const {
  for (std::size_t i = step_at(from); i < at_.size(); ++i) {
    if (free_[i] < gpus) return std::max(from, at_[i]);
  }
  return kNever;
}

std::size_t FreeGpus::split(Time at) {
  const std::size_t i = step_at(at);
  if (at_[i] >= at) return i;
  const auto place = static_cast<std::ptrdiff_t>(i) + 1;
  at_.insert(at_.begin() + place, at);
  free_.insert(free_.begin() + place, free_[i]);
  return i + 1;
}

void FreeGpus::take(Time from, Time until, int gpus) {
  if (from >= until || gpus == 0) return;
  const std::size_t begin = split(from);
  const std::size_t end = until == kNever ? at_.size() : split(until);
  for (std::size_t i = begin; i < end; ++i) free_[i] -= gpus;
}

void FreeGpus::build(Time now, int total, std::span<const Taken> taken) {
  changes_.clear();
  int free = total;
  for (const Taken& one : taken) {
    if (one.until <= now) continue;
    if (one.from <= now) {
      free -= one.gpus;
    } else {
      changes_.push_back({one.from, -one.gpus});
    }
    if (one.until != kNever) changes_.push_back({one.until, one.gpus});
  }
  std::ranges::sort(changes_, {}, &Change::at);
  reset(now, free);
  for (const Change& change : changes_) {
    free += change.gpus;
    if (at_.back() == change.at) {
      free_.back() = free;
    } else {
      at_.push_back(change.at);
      free_.push_back(free);
    }
  }
}

}  // namespace orrery
