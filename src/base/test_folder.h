#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/invariant.h"

namespace orrery {

// For tests: a new folder with mode 0700, removed with this object.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "orrery-test-XXXXXX").string();
    INVARIANT(::mkdtemp(name.data()) != nullptr, "the temporary folder can be written");
    path_ = std::filesystem::canonical(name).string();
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  std::string operator/(std::string_view name) const { return file(name); }
  // Writes a file in it, with mode 0600, and answers its path. Folders on the way are made with
  // mode 0700.
  std::string write(std::string_view name, std::string_view content) const {
    namespace fs = std::filesystem;
    const std::string path = file(name);
    const fs::path folder = fs::path(path).parent_path();
    if (fs::create_directories(folder)) fs::permissions(folder, fs::perms::owner_all);
    const Status written = write_file_atomically(path, content);
    INVARIANT(written.ok(), "a file of a test can be written");
    return path;
  }

 private:
  std::string path_{};
};

}  // namespace orrery
