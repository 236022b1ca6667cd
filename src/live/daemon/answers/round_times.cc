#include "live/daemon/answers/round_times.h"

#include <algorithm>
#include <cmath>

namespace orrery {

void RoundTimes::add(double seconds) {
  ++count_;
  sum_ += seconds;
  max_ = std::max(max_, seconds);
  const double place = std::ceil(std::log2(std::max(seconds, kFirst) / kFirst) * kBucketsPerOctave);
  const auto last = static_cast<double>(buckets_.size() - 1);
  ++buckets_[static_cast<std::size_t>(std::clamp(place, 0.0, last))];
}

double RoundTimes::quantile(double quantile) const {
  const double wanted = quantile * static_cast<double>(count_);
  double seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += static_cast<double>(buckets_[i]);
    if (seen == 0 || seen < wanted) continue;
    return std::min(max_, kFirst * std::exp2(static_cast<double>(i) / kBucketsPerOctave));
  }
  return max_;
}

}  // namespace orrery
