#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

// The parts of a training's time, after CM-DARE (ICDCS 2020):
// T = steps / speed + ceil(steps / interval) checkpoint_s + replacements (provision_s + set_up_s).
struct TrainingTimeParts {
  std::int64_t steps = 0;
  double steps_per_s = 0;                // of the cluster
  std::int64_t checkpoint_interval = 0;  // in steps; 0: none is saved
  double checkpoint_s = 0;
  double replacements = 0;  // the sum over the servers of their probability to be revoked
  double provision_s = 0;
  double set_up_s = 0;
};
double training_time_s(const TrainingTimeParts& parts);

// What is left when a worker is replaced: the request takes `request_s`, in which the cluster goes
// on at the speed `degraded`, then it has the speed `restored`. After CM-DARE's predict().
double time_with_replacement_s(double steps_left, double request_s, double degraded,
                               double restored);

// The time of `steps` if every live worker adds `worker_steps_per_s` and workers are lost at the
// given times and not replaced. The last one stays: with none left nothing would end.
double time_with_losses_s(double steps, double worker_steps_per_s, int workers,
                          std::vector<double> lost_at_s);

// The interval between checkpoints that loses the least time, after Young: sqrt(2 save / hazard).
// `hazard_per_s` is that of a loss that rolls the job back.
double best_checkpoint_interval_s(double save_s, double hazard_per_s);

}  // namespace orrery
