#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/invariant.h"

namespace orrery {

// A new folder for a test, below the system's folder for temporary files. Only its owner can enter
// it. It is removed at the end with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
    INVARIANT(::mkdtemp(name.data()) != nullptr, "the folder for temporary files can be written");
    path_ = std::move(name);
  }
  ~TemporaryFolder() {
    std::error_code problem;
    std::filesystem::remove_all(path_, problem);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace orrery
