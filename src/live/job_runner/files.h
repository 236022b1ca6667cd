#pragma once

#include <string>
#include <string_view>

#include "base/files.h"

namespace orrery {

// Makes a file; Code::AlreadyExists where there is one of that name. A reader may see a part of it.
Status write_new_file(const std::string& path, std::string_view content);

}  // namespace orrery
