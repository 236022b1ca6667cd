#pragma once

#include "live/agent/node_options.h"

namespace orrery {

// Four CPUs on two NUMA nodes and four GPUs.
inline NodeOptions node_options() {
  return {.instance = "here",
          .name = "node",
          .machine = {.numa = {{.id = 0, .cpus = {0, 1}}, {.id = 1, .cpus = {2, 3}}},
                      .memory_bytes = std::int64_t{1} << 30,
                      .gpus = declared_gpus(4),
                      .hostname = "host"}};
}

inline Assignment assignment(const LaunchName& name, std::uint64_t gpus) {
  return {.name = name, .ranks = name.rank + 1, .argv = {"/bin/true"}, .user = "ann", .gpus = gpus};
}

}  // namespace orrery
