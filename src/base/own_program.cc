#include "base/own_program.h"

#include <unistd.h>

#include <filesystem>

namespace orrery {

std::string own_program(std::string_view name) {
  std::error_code failed;
  return own_program(name, std::filesystem::read_symlink("/proc/self/exe", failed).parent_path());
}

std::string own_program(std::string_view name, const std::string& here) {
  const std::filesystem::path folder = here;
  for (const char* const way : {".", ORRERY_BIN_TO_LIBEXEC, ORRERY_LIBEXEC_TO_BIN}) {
    const auto path = (folder / way / name).lexically_normal();
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return folder / name;
}

}  // namespace orrery
