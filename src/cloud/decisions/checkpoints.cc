#include "cloud/decisions/checkpoints.h"

#include <algorithm>
#include <cmath>

namespace orrery {

Duration checkpoint_interval(Duration save, double hazard_per_h) {
  if (!(hazard_per_h > 0)) return kNever.time_since_epoch();
  const double save_s = std::max(0.0, seconds(save));
  const double mean_s = 3600 / hazard_per_h;
  if (save_s >= 2 * mean_s) return std::max(save, from_seconds(mean_s));
  const double part = save_s / (2 * mean_s);
  const double interval_s =
      std::sqrt(2 * save_s * mean_s) * (1 + std::sqrt(part) / 3 + part / 9) - save_s;
  return std::max(save, from_seconds(interval_s));
}

bool saves_on_notice(Duration save, Duration step, Duration left, Duration since_save) {
  return since_save > save && save + step < left;
}

}  // namespace orrery
