#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/test_folder.h"
#include "live/auth/authority.h"
#include "live/auth/certificates.h"

namespace orrery {

inline constexpr std::chrono::sys_seconds kToday{std::chrono::seconds(1'800'000'000)};

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
