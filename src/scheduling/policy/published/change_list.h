#pragma once

#include <cstdint>
#include <map>

#include "scheduling/policy/deadline/slot_planner.h"

namespace orrery {

// Times at which something was to change, and how many jobs were to end then.
class ChangeList {
 public:
  void change(std::int64_t at) { marks_[at].change = true; }
  void end(std::int64_t at) { ++marks_[at].ends; }
  // A job is not to end then any more; a time at which none is left is struck out.
  void leave(std::int64_t at) {
    const auto mark = marks_.find(at);
    if (mark != marks_.end() && --mark->second.ends <= 0) marks_.erase(mark);
  }
  void forget(std::int64_t until) { marks_.erase(marks_.begin(), marks_.upper_bound(until)); }
  std::int64_t next() const {
    for (const auto& [at, mark] : marks_) {
      if (mark.change) return at;
    }
    return kNoDeadline_s;
  }

 private:
  struct Mark {
    int ends = 0;
    bool change = false;
  };
  std::map<std::int64_t, Mark> marks_;
};

}  // namespace orrery
