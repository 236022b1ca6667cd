#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "model/time.h"

namespace orrery {

struct TwinEvent {
  enum class Kind { Asked, Replied, Computed, Handled, AtParent, RingDone, LinkStep, Change, Tick };
  Time at{};
  std::int64_t sequence = 0;
  Kind kind = Kind::Computed;
  int worker = 0;
  std::int64_t task = 0;
  bool operator>(const TwinEvent& other) const {
    return at != other.at ? at > other.at : sequence > other.sequence;
  }
};

// What will happen in a run of the twin, in order of time, then of its being added.
class TwinEvents {
 public:
  void push(Time at, TwinEvent::Kind kind, int worker, std::int64_t task) {
    events_.push({at, ++sequence_, kind, worker, task});
  }
  bool empty() const { return events_.empty(); }
  Time next() const { return events_.empty() ? kNever : events_.top().at; }
  TwinEvent pop() {  // there is one
    const TwinEvent event = events_.top();
    events_.pop();
    return event;
  }

 private:
  std::priority_queue<TwinEvent, std::vector<TwinEvent>, std::greater<>> events_{};
  std::int64_t sequence_ = 0;
};

}  // namespace orrery
