#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace orrery {

// When a process started, in the kernel's ticks since boot; with the pid and the boot it names one
// process for good. 0: there is no such process.
std::int64_t process_start(pid_t pid);

// Changes with every boot of the machine.
std::string boot_id();

// All processes below `ancestor`, parents before children.
std::vector<pid_t> descendants(pid_t ancestor);

// Processes that were started with this variable, "NAME=value", in their environment, and those
// they made since. Only as far as this user may look.
std::vector<pid_t> processes_with(const std::string& variable);

// A file descriptor for the process, readable once it has ended, which keeps meaning that process
// when its number goes to another. None where there is no such process. (Some C libraries declare
// these calls in a way that C++ cannot link.)
Fd open_process(pid_t pid);
// False, with errno set, where it cannot be sent.
bool send_signal(const Fd& process, int signal);

}  // namespace orrery
