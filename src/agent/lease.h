#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

// Time since the machine's boot, its sleep included, which every process of it sees alike.
Duration boot_time();

// The agent's lease as its jobs see it: a file in the state directory that holds the instant, in
// boot time, until which they may run. A supervisor that finds it past stops its job, also when
// there is no agent any more to do it; it looks at least once a second. So the scheduler may start
// a job elsewhere once the lease and the grace period are over.
struct Lease {
  Duration until{};       // 0: there was never one
  std::int64_t term = 0;  // of the scheduler that gave it: an older one is not obeyed any more

  bool operator==(const Lease&) const = default;
};

Status write_lease(const std::string& state, const Lease& lease);
Lease read_lease(const std::string& state);

}  // namespace orrery
