#pragma once

#include "training/trainer/transport/part.h"

namespace orrery {

// The whole of `orrery-train`, with whatever learns given from outside. The exit code: 0 done, 1
// the work failed, 2 the call was wrong.
int train_main(int argc, char** argv, const TrainPorts& ports);

}  // namespace orrery
