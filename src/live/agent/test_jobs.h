#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "live/agent/job_process.h"

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
