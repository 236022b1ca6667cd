#pragma once

#include <functional>
#include <vector>

#include "live/agent/processes.h"
#include "live/api/agent_words.h"

namespace orrery {

// Requests for pieces of jobs' output that are not answered yet. One that finds nothing new is kept
// until there is something, the job ends or its time is over; nothing blocks meanwhile.
// What one report carries is bounded; the rest comes with the next.
class LogAnswers {
 public:
  // One that is known by its number already is not asked twice. Beyond 256 the rest is dropped, and
  // has to be asked again.
  void ask(const std::vector<LogRequest>& requests, Duration now);
  // `ended` says of a launch that nothing is written any more.
  using HasEnded = std::function<bool(const LaunchName&)>;
  std::vector<LogPiece> answer(Processes& processes, const HasEnded& ended, Duration now);

  bool any() const { return !pending_.empty(); }
  // When it is worth looking again.
  Duration next_look(Duration now) const;

 private:
  struct Pending {
    LogRequest request{};
    Duration until{};
  };
  std::vector<Pending> pending_{};
  Duration looked_{};
  bool fresh_ = false;  // some have not been looked at at all, or a report was full
};

}  // namespace orrery
