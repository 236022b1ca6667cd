#pragma once

#include <span>

#include "model/grant.h"
#include "model/job.h"

namespace orrery {

// How fast jobs are where their trainer decides more than a curve knows, such as the batch size.
// A policy that counts on such trainers provides this, and the machines then run jobs so.
class Trainer {
 public:
  virtual ~Trainer() = default;
  // What the job achieves in a second on these devices, counted in iterations at the batch size it
  // states; 0 for a job this knows nothing of, which runs by its curve.
  virtual double iterations_per_s(const JobSpec& job, std::span<const NodeShare> devices,
                                  double work_left) const = 0;
};

}  // namespace orrery
