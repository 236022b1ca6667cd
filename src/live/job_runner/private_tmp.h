#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "live/job_runner/launch.h"

namespace orrery {

// A launch's own /tmp and /var/tmp: directories on disk that it sees in the place of the machine's,
// in a mount namespace of its own. Needs root.

// Makes them, for a user.
Status make_private_tmp(const std::string& path, uid_t user, gid_t group);

// Puts them in place for this process and its children. What the launch needs and would be hidden,
// its socket, its checkpoints and the directory it runs in, stays where it is. False with errno
// where that fails.
bool enter_private_tmp(const Launch& launch);

// Removes them and what is in them, if the directory is named JOB.EPOCH.RANK. Links are removed,
// not followed.
void remove_private_tmp(const std::string& path);

}  // namespace orrery
