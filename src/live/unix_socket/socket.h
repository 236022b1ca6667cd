#pragma once

#include <sys/types.h>

#include <string>

#include "base/files.h"
#include "base/result.h"

namespace orrery {

// Unix sockets at paths of any length. Descriptors do not outlive an exec.

// A socket that was left there is removed; anything else is an error. Every login of this machine
// may connect, if the folders above let it: who it is tells its user id.
Result<Fd> listen_at(const std::string& path);

// Blocks no longer than it takes the kernel to put us into the listener's queue.
Result<Fd> connect_to(const std::string& path);

// Whom the kernel vouches for at the other end: of a connection that was accepted, who connected;
// of one that was made, who listens.
Result<uid_t> peer_uid(const Fd& fd);

}  // namespace orrery
