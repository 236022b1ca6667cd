#include "training/sync/target_watch.h"

#include <algorithm>

namespace orrery {

TargetWatch::TargetWatch(double target, int over)
    : target_(target), over_(static_cast<std::size_t>(std::max(1, over))) {}

void TargetWatch::add(double at_s, double accuracy) {
  if (!(target_ > 0) || reached_s_) return;
  last_.push_back({at_s, accuracy});
  if (last_.size() < over_) return;
  if (last_.size() > over_) last_.pop_front();
  Point mean;
  for (const Point& point : last_) {
    mean.at_s += point.at_s / static_cast<double>(over_);
    mean.accuracy += point.accuracy / static_cast<double>(over_);
  }
  if (mean.accuracy < target_) {
    below_ = mean;
    return;
  }
  const double rise = below_ ? mean.accuracy - below_->accuracy : 0;
  const double part = rise > 0 ? (target_ - below_->accuracy) / rise : 1;
  reached_s_ = below_ ? below_->at_s + part * (mean.at_s - below_->at_s) : mean.at_s;
}

}  // namespace orrery
