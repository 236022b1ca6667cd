#include "cloud/decisions/cluster_speed.h"

#include <algorithm>
#include <cmath>

namespace orrery {

double cluster_speed(double sum, const SpeedCap& cap) {
  if (!(sum > 0) || !(cap.steps_per_s > 0)) return 0;
  if (!std::isfinite(cap.steps_per_s)) return sum;
  // The lower of the two in front keeps the powers within a double.
  const double least = std::min(sum, cap.steps_per_s);
  const double ratio = least / std::max(sum, cap.steps_per_s);
  return least * std::pow(1 + std::pow(ratio, cap.sharpness), -1 / cap.sharpness);
}

}  // namespace orrery
