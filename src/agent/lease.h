#pragma once

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
Status write_lease(const std::string& state, Duration until);
// 0 where none was ever written.
Duration read_lease(const std::string& state);

}  // namespace orrery
