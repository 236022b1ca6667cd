#pragma once

#include "steer/loss_window.h"

namespace orrery {

// How far training has come, by its loss: how much of the first is left, and whether it still falls
// at a pace worth the name.
class TrainingPhase {
 public:
  void saw(const LossWindow& window);

  double loss_left() const { return first_ > 0 ? loss_ / first_ : 1; }
  // The loss falls at less than this part of its best pace a sample, and has fallen by a third at
  // least; a plateau at the beginning is no end.
  bool flat(double part) const;

 private:
  double first_ = 0, loss_ = 0;
  double pace_ = 0, pace_best_ = 0;  // relative drop a sample, smoothed
  int windows_ = 0;
};

}  // namespace orrery
