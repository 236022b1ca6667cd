#pragma once

#include <string>
#include <string_view>

#include "base/files.h"

namespace orrery {

// Files that only the user who runs this may read. Whatever the umask is, directories get mode 0700
// and files 0600. One that others may read or that belongs to somebody else is refused with
// FailedPrecondition: a secret that was readable once is no secret any more, so it is not quietly
// made private again.

// Makes the directory, and those above it with the system's own modes, unless it is there.
Status make_private_directory(const std::string& path);

// Held by one process at a time, others wait; until it is closed.
Result<Fd> lock_directory(const std::string& path);

// No links are followed. One that is not there is NotFound.
Result<std::string> read_private(const std::string& path);

// Readers see the old content or the new one, and it is on disk when this returns. Whoever writes
// holds the directory's lock.
Status write_private(const std::string& path, std::string_view content);

}  // namespace orrery
