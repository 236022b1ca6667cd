#pragma once

#include <sys/types.h>

#include <string>

#include "base/files.h"
#include "base/result.h"

namespace orrery {

// Unix sockets at paths of any length. Descriptors do not outlive an exec.

// A socket that was left there is removed; anything else is an error. Every login of this machine
// may connect, if the folders above let it: the kernel names its user id.
Result<Fd> listen_at(const std::string& path);

// Blocks no longer than it takes the kernel to put us into the listener's queue.
Result<Fd> connect_to(const std::string& path);

// The user at the other end, by the kernel: of a connection that was accepted, the one that
// connected; of one that was made, the one that listens.
Result<uid_t> peer_uid(const Fd& fd);

}  // namespace orrery
