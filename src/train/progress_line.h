#pragma once

#include <chrono>
#include <string>

namespace orrery {

// How far a run is, on standard error: a bar with the time left on a terminal, and a plain line
// every few seconds elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled);
  ~ProgressLine();

  struct State {
    double share = 0;  // done, from 0 to 1
    double elapsed_s = 0;
    std::string mode{};
    std::int64_t updates = 0;
    double accuracy = -1;  // below 0: not known yet
  };
  void show(const State& state);
  void say(const std::string& message);  // a line of its own

 private:
  const bool enabled_;
  const bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace orrery
