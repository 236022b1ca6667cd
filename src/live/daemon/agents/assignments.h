#pragma once

#include <optional>
#include <string>

#include "live/api/api_jobs.h"
#include "live/daemon/agents/rendezvous.h"
#include "live/daemon/log/book.h"
#include "model/grant.h"

// What one process of a job is, in the words of its agent.

namespace orrery {

// `held` is what the job holds now, and the launch is one of it.
Assignment assignment_of(const Book& book, const LiveJob& job, const LiveLaunch& launch,
                         const Grant& held, const Rendezvous& rendezvous);

// True of a launch that must wait until rank 0, on another node, has a port. A launch that its
// agent knows already is not held.
bool waits_for_port(const LiveJob& job, const LiveLaunch& launch, const Rendezvous& rendezvous);

// How long the job may still run, by its time limit; 0: it has none. Never less than a millisecond,
// so that an agent sees that there is a limit.
Duration time_left(const LiveJob& job);

// Asks `node` for output of a rank of the job. `number` comes back with the answer.
LogRequest log_request(const Book& book, const LiveJob& job, const LogsRequest& wanted, NodeId node,
                       std::int64_t number);

}  // namespace orrery
