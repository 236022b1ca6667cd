#pragma once

#include <limits>

namespace orrery {

// What the parameter servers of a job take: a soft limit on the steps of all workers together.
struct SpeedCap {
  double steps_per_s = std::numeric_limits<double>::infinity();
  double sharpness = 4;  // the higher, the closer to the least of sum and cap
};

// Steps a second of asynchronous workers: (sum^-p + cap^-p)^(-1/p) with p = `sharpness`, where
// `sum` adds what each does alone. 0 for no workers.
double cluster_speed(double sum, const SpeedCap& cap);

}  // namespace orrery
