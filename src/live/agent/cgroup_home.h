#pragma once

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "live/job_runner/cgroup.h"

namespace orrery {

// A directory for the jobs' cgroups below the cgroup of this process, so that its limits hold for
// jobs as well; `name` is that of the directory. In version 1 there is one in the hierarchy of each
// of memory, pids, cpu and devices that can be written to; memory is needed. In version 2
// controllers can be handed down only by a cgroup without processes of its own. So this process
// moves to the child "agent" of its cgroup, which it may only where no other process is with it.
// Beside a cgroup "orrery-jobs.service" (packaging/systemd/) the directory is in that one.
//
// `root` is where /proc and /sys are looked for, so that tests can make them up. The error says why
// there can be none.
Result<CgroupHome> find_cgroup_home(const std::string& name, const std::string& root = "");

// Once no job is in it any more; else it stays.
void remove_cgroup_home(const CgroupHome& home);

// The name of an agent's directory, after the id of its state directory.
std::string cgroup_home_name(const std::string& instance);

// As long as the descriptor is open, other agents leave the directory alone. None: the directory is
// gone, because another agent removed it before it was held.
Fd hold_cgroup_home(const CgroupHome& home);

// Removes what killed agents have left: the directories beside `home` that have an agent's name,
// that no agent holds and that no process is in, in every hierarchy. Returns how many agents'.
int remove_left_cgroup_homes(const CgroupHome& home);

}  // namespace orrery
