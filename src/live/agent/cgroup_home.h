#pragma once

#include <string>

#include "base/result.h"
#include "live/job_runner/cgroup.h"

namespace orrery {

// A directory for the jobs' cgroups below the cgroup of this process, so that its limits hold for
// jobs as well; `name` is that of the directory. In version 1 there is one in the hierarchy of each
// of memory, pids, cpu and devices that can be written to; memory is needed. In version 2
// controllers can be handed down only by a cgroup without processes of its own. So this process
// moves to the child "agent" of its cgroup, which it may only where no other process is with it.
//
// `root` is where /proc and /sys are looked for, so that tests can make them up. The error says why
// there can be none.
Result<CgroupHome> find_cgroup_home(const std::string& name, const std::string& root = "");

// Once no job is in it any more; else it stays.
void remove_cgroup_home(const CgroupHome& home);

}  // namespace orrery
