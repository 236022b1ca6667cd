#pragma once

#include <chrono>
#include <string>

#include "training/trainer/head/run_progress.h"

namespace orrery {

// How far a run is, on standard error: a line that is renewed on a terminal, with a bar where it
// is known what share is done, and a plain line every few seconds elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled);
  ~ProgressLine();

  void show(const ProgressState& state);
  void say(const std::string& message);  // a line of its own

 private:
  const bool enabled_;
  const bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace orrery
