#pragma once

#include "model/view.h"
#include "scheduling/placement/shape.h"

namespace orrery {

// What a running job takes from the nodes it is on.
inline Shape held_shape(const Job& job) {
  Shape shape = shape_of(*job.spec);
  shape.gpus = gpu_count(job.held.devices);
  shape.cpu_milli = job.held.cpu_milli;
  shape.memory_bytes = job.held.memory_bytes;
  return shape;
}

}  // namespace orrery
