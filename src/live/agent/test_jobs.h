#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "live/agent/job_process.h"
#include "base/files.h"

namespace orrery {

// A program under a sanitizer needs more memory than any limit leaves it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Arguments that make this test program play a job; see acts_test.cc for what it can play.
inline std::vector<std::string> act(std::vector<std::string> what) {
  what.insert(what.begin(), {std::filesystem::read_symlink("/proc/self/exe").string(), "--act"});
  return what;
}

// A directory of its own, which goes with it.
class TestFolder {
 public:
  TestFolder() : path_(testing::TempDir() + "/orrery-agent-XXXXXX") {
    if (!::mkdtemp(path_.data())) ADD_FAILURE() << "no directory for tests in " << path_;
    path_ = std::filesystem::canonical(path_).string();
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& content) const {
    const auto folder = std::filesystem::path(path_ + "/" + name).parent_path();
    // Closed to others, as an agent would have made it.
    if (std::filesystem::create_directories(folder)) {
      std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    }
    EXPECT_TRUE(write_file_atomically(path_ + "/" + name, content).ok()) << name;
  }

 private:
  std::string path_;
};

inline LocalJobs open_jobs(const std::string& state) {
  auto jobs = LocalJobs::open(state);
  EXPECT_TRUE(jobs.ok()) << (jobs.ok() ? "" : jobs.error().message);
  return std::move(jobs).value();
}

inline JobProcess start(const LocalJobs& jobs, const Launch& launch) {
  auto job = jobs.start(launch);
  EXPECT_TRUE(job.ok()) << (job.ok() ? "" : job.error().message);
  return std::move(job).value();
}

// How it ended, whatever time it took.
inline JobEnd untimed(JobEnd end) {
  EXPECT_GE(end.ran_ns, 0);
  end.ran_ns = -1;
  return end;
}

inline JobEnd end_of(const JobProcess& job) {
  auto end = job.wait();
  EXPECT_TRUE(end.ok()) << (end.ok() ? "" : end.error().message);
  return std::move(end).value();
}

}  // namespace orrery
