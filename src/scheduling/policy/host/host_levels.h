#pragma once

#include <vector>

#include "scheduling/policy/host/host_cells.h"

namespace orrery {

// What a kind of job can be given for each GPU so that less would be slower: a floor, with which it
// is as fast as with its fair share, and everything above it that is worth its cost.
struct HostLevels {
  struct Level {
    HostShare host;    // for each GPU
    double speed = 1;  // over the speed that iteration_s was measured at
  };
  std::vector<Level> levels;  // rising in speed; the first is the floor
  const Sensitivity* sensitivity = nullptr;
  double fastest_on_a_node = 0;  // of the levels that fit some node

  // Of a job that says what it wants: that, for this many GPUs. Nothing for others.
  HostShare asked;
  int gpus = 1;

  const Level& floor() const { return levels.front(); }
  // What goes with this many GPUs at this level.
  HostShare share(const Level& level, int count) const {
    if (asked == HostShare{}) return times(level.host, count);
    return {share_of(asked.cpu_milli, count, gpus), share_of(asked.memory_bytes, count, gpus)};
  }
  HostShare floor_share(int count) const { return share(floor(), count); }
};

HostLevels host_levels(const HostAllocator::Asker& asker);

}  // namespace orrery
