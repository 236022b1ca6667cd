#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "base/result.h"
#include "live/auth/authority.h"
#include "live/auth/certificates.h"

namespace orrery {

inline constexpr std::chrono::sys_seconds kToday{std::chrono::seconds(1'800'000'000)};

// A place for a directory of its own, which goes with it.
class TestFolder {
 public:
  TestFolder() : path_(testing::TempDir() + "/orrery-trust-XXXXXX") {
    if (!::mkdtemp(path_.data())) ADD_FAILURE() << "no directory for tests in " << path_;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

template <class T>
T good(Result<T> result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return std::move(result).value();
}

inline std::string why(const Status& status) { return status.ok() ? "" : status.error().message; }

template <class T>
std::string why(const Result<T>& result) {
  return result.ok() ? "" : result.error().message;
}

inline int mode_of(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
  return static_cast<int>(found.st_mode & 07777);
}

}  // namespace orrery
