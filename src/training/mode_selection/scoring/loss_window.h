#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "training/sync/director.h"

namespace orrery {

// A stretch of training in one mode at one learning rate, and how fast the loss fell in it: a line
// through the losses over the samples they were computed on, each loss weighed by its samples.
struct LossWindow {
  Time from{}, to{};
  double samples = 0;
  int gradients = 0;
  double staleness = 0;   // mean over gradients
  double rate = 0;        // learning rate
  double loss = 0;        // of the line at its start
  double drop = 0;        // loss lost a sample, over the loss at the start; below 0: it rose
  double drop_noise = 0;  // standard error of that

  double seconds_long() const { return seconds(to) - seconds(from); }
};

struct LossWindowOptions {
  int gradients_least = 40;
  double seconds_least = 1;
  int settle = 0;  // gradients left out after a mode has begun
};

// Cuts a run into windows. begin() is called whenever the mode or the rate changes; what was
// gathered and is long enough then becomes a window.
class LossWindows {
 public:
  explicit LossWindows(const LossWindowOptions& options = {}) : options_(options) {}

  std::optional<LossWindow> begin(double rate, int settle);
  std::optional<LossWindow> add(const IterationSample& sample);

 private:
  struct Point {
    double at = 0;  // samples before it
    double loss = 0;
    double weight = 0;
  };
  bool long_enough() const;
  LossWindow close();

  LossWindowOptions options_;
  std::vector<Point> points_;
  Time from_{}, to_{};
  double samples_ = 0, staleness_ = 0, rate_ = 0;
  int settle_ = 0;
  bool started_ = false;
};

}  // namespace orrery
