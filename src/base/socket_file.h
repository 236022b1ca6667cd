#pragma once

#include <string>

#include "base/result.h"

namespace orrery {

// Removes the socket that an earlier process left at `path`. Nothing there is as good; what is no
// socket stays, and is Code::AlreadyExists.
Status remove_old_socket(const std::string& path);

}  // namespace orrery
