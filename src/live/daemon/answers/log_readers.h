#pragma once

#include <map>
#include <string>
#include <vector>

#include "live/api/api.h"
#include "live/daemon/core/core.h"

namespace orrery {

// Clients that read jobs' output: each call waits here for its node's answer, or for its job to
// start. A job has ended for a reader only when it has ended for good: not where it is paused,
// fails and is tried again, or goes on elsewhere. For one thread.
class LogReaders {
 public:
  void ask(Core& core, Time now, const LogsRequest& request, Reply<LogsAnswer> reply);
  void heard(Core& core, const LogPiece& piece);
  // Answers those that have waited long enough, and asks for the jobs that have started.
  void pass(Core& core, Time now);
  // When pass() is due at the latest.
  Time due() const { return due_; }

 private:
  struct Reader {
    LogsRequest request{};
    NodeId node{};
    Time until{};
    Reply<LogsAnswer> reply{};
  };

  void send(Core& core, Time now, const LogsRequest& request, Reply<LogsAnswer> reply);

  std::map<std::int64_t, Reader> asked_{};  // by the number of the request
  std::vector<Reader> unstarted_{};         // their jobs have not started yet
  std::int64_t last_ = 0;                   // a request's number; never used again in any term
  Time due_ = kNever;
};

}  // namespace orrery
