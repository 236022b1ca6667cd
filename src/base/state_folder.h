#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace orrery {

// The folder in which a scheduler or an agent keeps what it knows: jobs with their environments and
// output. Other logins can never list it or write to it, whatever the umask is.
enum class Passage {
  None,    // mode 0700
  Others,  // 0711: other logins reach what is open to them below it
};

// Makes the folder, and those above it with the system's own modes. A folder that belongs to
// another user is refused with FailedPrecondition, and so is one that others could list or write to
// before while it held something: what it holds may have been read or put there by others.
Status make_state_folder(const std::string& path, Passage passage);

// FailedPrecondition for the first thing in the folder that is a link, a pipe or a device, that
// belongs to another user, or that is a file which others can read or write. Folders and sockets
// are left out, and so are the names in `open_to_others`.
Status check_state_files(const std::string& path,
                         std::initializer_list<std::string_view> open_to_others);

// The same of one file, which may be absent.
Status check_private_file(const std::string& path);
// An empty file with mode 0600 where there is none. One that is there is checked.
Status make_private_file(const std::string& path);

// Reads a secret. Links are not followed. NotFound: there is no such file. FailedPrecondition:
// other users can read it or it belongs to one of them. What could be read once is no secret any
// more, so the mode is not repaired silently.
Result<std::string> read_private_file(const std::string& path);

// Waits until no other process holds the lock of the folder, then holds it until it is closed.
Result<Fd> lock_state_folder(const std::string& path);

}  // namespace orrery
