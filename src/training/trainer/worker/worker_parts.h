#pragma once

#include <vector>

#include "training/sync/task.h"

namespace orrery {

// A child's gradient at its parent, until it is handed in.
struct HandedGradient {
  Gradient gradient{};
  std::vector<float> values{};
};

// Parameters that a parent shall give a child for a task. With a tree, of this version.
struct OwedParameters {
  std::int64_t task = 0;
  WorkerId child{};
  ParameterVersion version = 0;
};

}  // namespace orrery
