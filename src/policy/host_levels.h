#pragma once

#include <vector>

#include "predict/host_need.h"

namespace orrery {

// What a kind of job can be given for each GPU so that less would be slower: a floor, with which it
// is as fast as with its fair share, and everything above it that is worth its price.
struct HostLevels {
  struct Level {
    HostShare host;    // for each GPU
    double speed = 1;  // over the speed that iteration_s was measured at
  };
  std::vector<Level> levels;  // rising in speed; the first is the floor
  const Sensitivity* sensitivity = nullptr;
  double fastest_on_a_node = 0;  // of the levels that some node has room for

  const Level& floor() const { return levels.front(); }
};

// For a job of so many GPUs. `sensitivity` may be null: then there is only what it asks for.
HostLevels host_levels(const Sensitivity* sensitivity, const HostNeed& need, int gpus);

}  // namespace orrery
