#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "model/time.h"

namespace orrery {

// GPUs over time, as flat sorted arrays: each step holds until the next one, the last for ever. At
// is Time, or whole seconds for plans that are made in slots.
template <class At, class Length>
class BasicTimeline {
 public:
  static constexpr At kEnd{Length{std::numeric_limits<std::int64_t>::max()}};

  struct Step {
    At at{};
    int gpus = 0;
    bool operator==(const Step&) const = default;
  };
  BasicTimeline() = default;
  BasicTimeline(std::initializer_list<Step> steps) {
    for (const Step& step : steps) append(step.at, step.gpus);
  }
  bool operator==(const BasicTimeline&) const = default;

  void clear() { shorten(0); }
  void reset(At from, int gpus) {
    at_.assign(1, from);
    gpus_.assign(1, gpus);
  }
  // A step after the last one, left out if it changes nothing.
  [[gnu::always_inline]] void append(At at, int gpus) {
    if (!gpus_.empty() && gpus_.back() == gpus) return;
    at_.push_back(at);
    gpus_.push_back(gpus);
  }

  std::size_t size() const { return at_.size(); }
  At from(std::size_t i) const { return at_[i]; }
  At until(std::size_t i) const { return i + 1 < at_.size() ? at_[i + 1] : kEnd; }
  int gpus(std::size_t i) const { return gpus_[i]; }
  // All steps, for inner loops.
  std::span<const At> starts() const { return at_; }
  std::span<const int> counts() const { return gpus_; }

  // The step in which an instant lies, which must not be before the first.
  std::size_t step_at(At time) const {
    const auto after = std::ranges::upper_bound(at_, time);
    return after == at_.begin() ? 0 : static_cast<std::size_t>(after - at_.begin()) - 1;
  }
  int at(At time) const { return gpus_[step_at(time)]; }
  // The first step after an instant, and the first with any GPU; kEnd if there is none.
  At next_step(At after) const {
    const auto next = std::ranges::upper_bound(at_, after);
    return next == at_.end() ? kEnd : *next;
  }
  At first_use() const {
    const auto first = std::ranges::find_if(gpus_, [](int gpus) { return gpus > 0; });
    return first == gpus_.end() ? kEnd : at_[static_cast<std::size_t>(first - gpus_.begin())];
  }
  // The fewest in [from, until).
  int least(At from, At until) const {
    std::size_t i = step_at(from);
    int least = gpus_[i];
    for (++i; i < at_.size() && at_[i] < until; ++i) least = std::min(least, gpus_[i]);
    return least;
  }

  void take(At from, At until, int gpus) {
    if (from >= until || gpus == 0) return;
    const std::size_t begin = split(from);
    const std::size_t end = until == kEnd ? at_.size() : split(until);
    for (std::size_t i = begin; i < end; ++i) gpus_[i] -= gpus;
  }
  void give(At from, At until, int gpus) { take(from, until, -gpus); }
  void take_in_step(std::size_t i, int gpus) { gpus_[i] -= gpus; }
  // From an instant until the next step there are this many.
  void set(At at, int gpus) { gpus_[split(at)] = gpus; }
  // Leaves out steps that change nothing.
  void merge() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (kept > 0 && gpus_[i] == gpus_[kept - 1]) continue;
      at_[kept] = at_[i];
      gpus_[kept++] = gpus_[i];
    }
    shorten(kept);
  }

  struct Taken {
    At from{};
    At until{};
    int gpus = 0;
  };
  // What many take of the total, in any order.
  void build(At now, int total, std::span<const Taken> taken) {
    changes_.clear();
    reset(now, total);
    for (const Taken& one : taken) {
      if (one.until <= now) continue;
      if (one.from > now) changes_.push_back({one.from, -one.gpus});
      if (one.from <= now) gpus_.front() -= one.gpus;
      if (one.until != kEnd) changes_.push_back({one.until, one.gpus});
    }
    std::ranges::sort(changes_, {}, &Step::at);
    for (const Step& change : changes_) {
      if (at_.back() != change.at) {
        at_.push_back(change.at);
        gpus_.push_back(gpus_.back());
      }
      gpus_.back() += change.gpus;
    }
  }

 private:
  void shorten(std::size_t size) {
    at_.resize(size);
    gpus_.resize(size);
  }
  std::size_t split(At at) {
    const std::size_t i = step_at(at);
    if (at_[i] >= at) return i;
    const auto place = static_cast<std::ptrdiff_t>(i) + 1;
    at_.insert(at_.begin() + place, at);
    gpus_.insert(gpus_.begin() + place, gpus_[i]);
    return i + 1;
  }

  std::vector<At> at_;
  std::vector<int> gpus_;
  std::vector<Step> changes_;  // while it is built
};

using Timeline = BasicTimeline<Time, Duration>;
using SlotTimeline = BasicTimeline<std::int64_t, std::int64_t>;

}  // namespace orrery
