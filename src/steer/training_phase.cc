#include "steer/training_phase.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr double kWeight = 0.25;
constexpr int kWindowsLeast = 8;
constexpr double kFallen = 2.0 / 3;

}  // namespace

void TrainingPhase::saw(const LossWindow& window) {
  ++windows_;
  if (windows_ == 1) first_ = window.loss;
  loss_ = window.loss;
  pace_ += std::max(kWeight, 1.0 / windows_) * (window.drop - pace_);
  if (windows_ > 2) pace_best_ = std::max(pace_best_, pace_);
}

bool TrainingPhase::flat(double part) const {
  return windows_ >= kWindowsLeast && loss_left() < kFallen && pace_ < part * pace_best_;
}

}  // namespace orrery
