#pragma once

#include <span>
#include <vector>

#include "model/time.h"

namespace orrery {

// How many GPUs are free from when on: a step function over the future, as flat sorted arrays. Its
// last value holds for ever.
class FreeGpus {
 public:
  void reset(Time now, int total) {
    at_.assign(1, now);
    free_.assign(1, total);
  }

  std::size_t size() const { return at_.size(); }
  Time begin(std::size_t i) const { return at_[i]; }
  Time end(std::size_t i) const { return i + 1 < at_.size() ? at_[i + 1] : kNever; }
  int free(std::size_t i) const { return free_[i]; }

  // The step in which an instant lies, which must not be before the first.
  std::size_t step_at(Time time) const;
  int at(Time time) const { return free_[step_at(time)]; }
  // The fewest in [from, until).
  int least(Time from, Time until) const;
  // When fewer than this many are free for the first time from now on; kNever if that is so always.
  Time first_below(Time from, int gpus) const;

  void take(Time from, Time until, int gpus);
  void give(Time from, Time until, int gpus) { take(from, until, -gpus); }

  // Many at once, in any order.
  struct Taken {
    Time from{};
    Time until{};
    int gpus = 0;
  };
  void build(Time now, int total, std::span<const Taken> taken);

 private:
  struct Change {
    Time at{};
    int gpus = 0;
  };
  std::size_t split(Time at);

  std::vector<Time> at_;
  std::vector<int> free_;
  std::vector<Change> changes_;
};

}  // namespace orrery
