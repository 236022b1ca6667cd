#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

// Time since the machine's boot, its sleep included, which every process of it sees alike.
Duration boot_time();

// The agent's lease as its jobs see it: a file in the state directory that says when the scheduler
// last answered. Each launch may run for its node timeout from then on. A supervisor that finds the
// time over stops its job, also without an agent; it looks at least once a second. So the scheduler
// may start a job elsewhere once the node timeout and the grace period are over.
struct Lease {
  Duration until{};       // boot time; the end for launches without a node timeout. 0: none yet
  Duration answered{};    // boot time at which the newest answered report was sent
  std::int64_t term = 0;  // of the scheduler that gave it: an older one is not obeyed any more
  std::string log{};      // whose orders are obeyed; empty: of an earlier release, any

  bool operator==(const Lease&) const = default;
};

// Until when a launch may run. `node_timeout` 0: as long as the lease.
Duration runs_until(const Lease& lease, Duration node_timeout);

Status write_lease(const std::string& state, const Lease& lease);
Lease read_lease(const std::string& state);

}  // namespace orrery
