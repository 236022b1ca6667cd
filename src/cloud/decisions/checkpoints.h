#pragma once

#include "model/time.h"

namespace orrery {

// How much training lies between two checkpoints, if saving takes `save` and a failure that loses
// the training since the last one comes `hazard_per_h` times an hour. After Daly, A higher order
// estimate of the optimum checkpoint interval for restart dumps (2006); for short saves it is
// Young's sqrt(2 save / hazard). Without hazard the largest Duration; never below `save`.
Duration checkpoint_interval(Duration save, double hazard_per_h);

// A server that will end in `left` saves first if that fits: the save, and the time until a step is
// complete, `step`. A save longer than the training that it keeps, `since_save`, is not worth it.
bool saves_on_notice(Duration save, Duration step, Duration left, Duration since_save);

}  // namespace orrery
