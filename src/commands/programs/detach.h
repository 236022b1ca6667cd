#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace orrery {

// Runs `body` in a process of its own, in a session of its own. Returns in the caller's process
// when `body` calls `ready`, or with the error that `body` ended with before. From `ready` on,
// standard input is empty and both outputs go to the end of the file `log()`, which only this user
// can read. Before: no other thread runs.
Status run_detached(const std::function<std::string()>& log,
                    const std::function<Status(const std::function<void()>& ready)>& body);

}  // namespace orrery
