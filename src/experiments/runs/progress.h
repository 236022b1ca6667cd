#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace orrery {

// Shows on standard error how far long work has come, while this exists: a bar with the time left
// on a terminal, and a plain line every few seconds elsewhere. Short work shows nothing.
class ProgressBar {
 public:
  ProgressBar(std::string what, std::int64_t total, const std::atomic<std::int64_t>& done,
              bool enabled);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  void watch();
  void show(double elapsed_s, bool terminal) const;

  const std::string what_;
  const std::int64_t total_;
  const std::atomic<std::int64_t>& done_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::jthread thread_;
};

}  // namespace orrery
