#pragma once

#include <string>
#include <string_view>

#include "base/files.h"

namespace orrery {

// A whole small file without white space at its end; empty where it cannot be read.
std::string read_word(const std::string& path);

// Makes a file; Code::AlreadyExists where there is one of that name. A reader may see a part of it.
Status write_new_file(const std::string& path, std::string_view content);
// Writes to a file that is there, as the kernel's control files want it: in one call.
Status write_control(const std::string& path, std::string_view content);

}  // namespace orrery
