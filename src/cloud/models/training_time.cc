#include "cloud/models/training_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

double training_time_s(const TrainingTimeParts& parts) {
  const double computing_s = static_cast<double>(parts.steps) / parts.steps_per_s;
  const std::int64_t checkpoints =
      parts.checkpoint_interval <= 0
          ? 0
          : (parts.steps + parts.checkpoint_interval - 1) / parts.checkpoint_interval;
  return computing_s + static_cast<double>(checkpoints) * parts.checkpoint_s +
         parts.replacements * (parts.provision_s + parts.set_up_s);
}

double time_with_replacement_s(double steps_left, double request_s, double degraded,
                               double restored) {
  // A job that is done before the replacement comes needs none.
  if (steps_left <= request_s * degraded) return steps_left / degraded;
  return request_s + steps_left / restored - request_s * (degraded / restored);
}

double time_with_losses_s(double steps, double worker_steps_per_s, int workers,
                          std::vector<double> lost_at_s) {
  std::ranges::sort(lost_at_s);
  double now_s = 0, done = 0;
  int live = workers;
  for (const double lost_s : lost_at_s) {
    if (live == 1) break;
    const double until_s = std::max(lost_s, now_s);
    const double step_count = (until_s - now_s) * worker_steps_per_s * live;
    if (done + step_count >= steps) break;
    done += step_count;
    now_s = until_s;
    --live;
  }
  return now_s + (steps - done) / (worker_steps_per_s * live);
}

double best_checkpoint_interval_s(double save_s, double hazard_per_s) {
  if (hazard_per_s <= 0) return std::numeric_limits<double>::infinity();
  return std::sqrt(2 * save_s / hazard_per_s);
}

}  // namespace orrery
