#pragma once

#include <functional>
#include <memory>
#include <string>

#include "live/api/agent_link.h"
#include "live/api/api.h"
#include "live/daemon/core/core.h"
#include "live/daemon/rights/gatekeeper.h"
#include "live/store/store.h"

namespace orrery {

struct ServerSetup {
  std::string state{};  // the directory; the log is orrery.db in it
  CoreOptions core{};
  // A snapshot is made when the log has grown by this many records; the log before the one before
  // it is let go.
  std::int64_t records_between_snapshots = 200'000;
  Duration keep_finished = std::chrono::hours(24 * 7);  // jobs, across restarts
  std::function<void(const std::string&)> say{};        // a line of the operator's log
  GatekeeperOptions gatekeeper{};
  // The groups of a user on this machine. May wait, and is called on the caller's thread. Empty:
  // no user is in any.
  std::function<std::vector<std::string>(const std::string& user)> groups_of{};
  // Makes a forecast from a situation, which is a snapshot; run on a thread of its own.
  std::function<Result<WhatIfAnswer>(const std::string& situation, const WhatIfRequest& request)>
      ask_what_if{};
  // Likewise: when those that wait will start.
  std::function<Result<std::map<JobNumber, Time>>(const std::string& situation)> predict_starts{};
};

// The scheduler as a process has it: a Core with the machine's clock, a store, clients and agents.
// One thread owns the core; calls are handed to it, and what they come to leaves the process once
// its records are on disk. Records that arrive together are committed together, so that many
// clients do not cost many waits for the disk.
//
// When a write fails nothing more is acknowledged, and stopped() says why: what is on disk is then
// for the next start to find out.
class SchedulerServer : public Api, public AgentHost {
 public:
  // Recovers what the state directory holds.
  static Result<std::unique_ptr<SchedulerServer>> start(ServerSetup options);

  // Ends the loop; everything acknowledged is on disk, and a snapshot makes the next start quick.
  virtual Status stop() = 0;
  // Called once, on the server's thread, when it cannot go on.
  virtual void on_failure(std::function<void(const Error&)> report) = 0;
  // Text for Prometheus, if the caller may read it.
  virtual Result<std::string> metrics(const Caller& caller) = 0;
};

}  // namespace orrery
