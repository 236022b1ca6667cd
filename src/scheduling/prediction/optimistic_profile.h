#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "model/sensitivity.h"

namespace orrery {

// How fast a job is with CPUs and memory, from few measurements (Synergy's optimistic profiling).
// Only CPUs are measured, with all the memory there is. What less memory does follows from the data
// set: of a cache that never evicts, as much is hit in every epoch as lies in it, and the rest
// comes from storage; loading overlaps with training, so the slower of the two sets the pace.
struct OptimisticSetup {
  std::vector<std::int64_t> cpu_milli;     // of the answer, for each GPU, rising
  std::vector<std::int64_t> memory_bytes;  // for each GPU, rising; measured is with the last
  HostShare reference;                     // where the speed of the answer is 1

  // Of one GPU's part of the job.
  double dataset_bytes = 0;     // read in an epoch
  double epoch_iterations = 0;  // that an epoch takes
  double storage_bytes_per_s = 0;
  double cache_bytes_per_s = 0;                      // out of memory; 0: no limit
  std::function<double(std::int64_t)> cached_share;  // of the data set, with this much memory

  double tolerance = 0.03;    // of the speeds
  double noise = 0.01;        // relative standard deviation of one measurement
  int most_measurements = 0;  // 0: a tenth of the cells of the answer, and at least 4
};

// Iterations a second with this many CPUs for each GPU and all the memory. Each call is a
// measurement.
using MeasureSpeed = std::function<Result<double>(std::int64_t cpu_milli)>;

struct OptimisticProfile {
  Sensitivity sensitivity;  // ideal: its knee
  double iteration_s = 0;   // at speed 1
  int measurements = 0;
};

// Measures the least and the most CPUs, and then divides the interval in which the speed is least
// certain until every one is known to the tolerance. Speeds are taken to rise ever more slowly with
// CPUs, so between two measured points the curve lies above the line through them, below the lines
// through their neighbours and below the right one; an interval whose ends are nearly alike is
// never divided. Noisy points are measured again as far as the number of measurements allows. Fails
// as the measurement does, and on one that is no positive number.
Result<OptimisticProfile> profile_optimistically(const OptimisticSetup& setup,
                                                 const MeasureSpeed& measure);

}  // namespace orrery
