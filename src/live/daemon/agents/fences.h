#pragma once

#include <vector>

#include "live/daemon/log/book.h"

namespace orrery {

struct FenceOptions {
  Duration lease{};   // a node that is silent for longer is lost
  Duration margin{};  // for what is not exact: supervisors, killing
};

// Says when a silent node is lost, and when none of its processes can be running any more, so that
// its jobs may start elsewhere. Without state: all follows from the book and from when the node was
// last heard of. After a restart of the scheduler that is the instant of the restart, because the
// scheduler does not know which reports it answered before.
//
// A node gets no answer later than it was heard of. It runs a launch for the launch's node timeout
// after that answer, and its grace. So the launch is over at heard of + node timeout + grace +
// margin + drift, and not before. The drift is for clocks: two that are slewed as fast as adjtime()
// allows, in opposite directions, differ by one part in a thousand; Fences assumes twice that.
class Fences {
 public:
  explicit Fences(FenceOptions options) : options_(options) {}

  Time lost_at(Time seen) const { return seen + options_.lease; }
  Time fence_at(const LiveLaunch& launch, Duration grace, Time seen) const;

  struct Verdict {
    std::vector<LaunchName> over{};  // cannot be running any more
    Time next = kNever;              // when the next one will be over
  };
  // Of a node that is lost.
  Verdict look(const Book& book, NodeId node, Time seen, Time now) const;

 private:
  FenceOptions options_;
};

// The jobs that cannot start before a lost node has come back, or its fence has passed: a process
// of an earlier epoch may be running there. In order of their ids.
std::vector<JobId> jobs_behind_lost_nodes(const Book& book);

}  // namespace orrery
