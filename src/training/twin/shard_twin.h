#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "model/time.h"
#include "training/twin/twin.h"

namespace orrery {

// The shards of a twin as one: they take one gradient after the other, and make updates.
class ShardTwin {
 public:
  explicit ShardTwin(const TwinShards& facts) : facts_(facts) {}

  void set_cpu(double share) { cpu_ = share; }  // of what they began with
  void make_update(Time now) {
    updated_at_ = updates_end(now) + from_seconds(facts_.update_s / cpu_);
  }
  // When the updates ordered so far are made, but not before now.
  Time updates_end(Time now) const { return updated_at_ > now ? updated_at_ : now; }
  bool takes_at_once(Time now) const { return facts_.gradient_s == 0 && updated_at_ <= now; }

  void arrive(int worker, std::int64_t task) { arrived_.emplace_back(worker, task); }
  struct Handling {
    int worker = 0;
    std::int64_t task = 0;
    Time ends{};
  };
  // Begins to handle the next gradient of those that are `wanted` still, unless one is handled
  // already. handled() ends that.
  template <class Wanted>
  std::optional<Handling> handle_next(Time now, const Wanted& wanted) {
    while (!handles_ && !arrived_.empty()) {
      const auto [worker, task] = arrived_.front();
      arrived_.pop_front();
      if (!wanted(worker, task)) continue;
      handles_ = true;
      return Handling{worker, task, updates_end(now) + from_seconds(facts_.gradient_s / cpu_)};
    }
    return std::nullopt;
  }
  void handled() { handles_ = false; }

 private:
  const TwinShards facts_;
  double cpu_ = 1;
  bool handles_ = false;
  Time updated_at_{};
  std::deque<std::pair<int, std::int64_t>> arrived_{};  // by worker and task
};

}  // namespace orrery
