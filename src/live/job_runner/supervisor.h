#pragma once

#include <optional>
#include <string>
#include <vector>

#include "live/job_runner/job_record.h"

namespace orrery {

// One small process stands above each job and outlives the agent. It starts the job, waits for its
// end, takes in whatever the job leaves behind, and writes down how it ended. It is `orrery-job` or
// this same program, called with arguments that no user types.
//
// While it lives it holds a lock on the launch's file, and the kernel reports its holder.
// So no number in a file decides whether a job has a supervisor.
//
// A SIGTERM asks it to stop the job: SIGTERM to the job's group, then, after the grace period of
// the stop file, SIGKILL to all of the job's processes, those that left the group included.

// What main() does first: runs the supervisor and gives its exit code if that is what was asked
// for.
std::optional<int> supervise_if_asked(int argc, char** argv);

// What is run as the supervisor: `orrery-job`, which is nothing else and starts faster, where it
// stands beside this program, otherwise this program.
std::string supervisor_program();

// The arguments that ask for it.
std::vector<std::string> supervisor_arguments(const std::string& state, const std::string& name);

// Those that ask for a process which forks supervisors; see fork_server.h.
std::vector<std::string> fork_server_arguments();

// The supervisor keeps this open until the job's program runs, or never will.
inline constexpr int kReadyFd = 3;

// "NAME=value", which every process of a launch has in its environment.
std::string launch_cookie(const JobFiles& files);

}  // namespace orrery
