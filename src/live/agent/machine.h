#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "live/agent/gpus.h"

namespace orrery {

struct NumaNode {
  int id = 0;
  std::vector<int> cpus{};  // those this process may use, sorted
};

// What the agent has to give.
struct Machine {
  std::vector<NumaNode> numa{};   // only nodes with usable CPUs, by id
  std::int64_t memory_bytes = 0;  // the least of what is there and what cgroups allow
  std::vector<Gpu> gpus{};
  std::string hostname{};

  int cpu_count() const;
};

struct MachineOptions {
  std::string root = "";  // where /proc and /sys are looked for, so that tests can make them up
  // The CPUs of the affinity mask; not given: this process's own.
  std::optional<std::vector<int>> affinity{};
  std::optional<int> gpus_declared{};  // instead of asking the driver
  std::string nvml = "libnvidia-ml.so.1";
};

// Looks once. CPUs are those of the affinity mask that are online, on the NUMA nodes of /sys, and
// no more of them than the CPU quota of the process's cgroups (v2 and v1, its ancestors included)
// has whole ones; a quota below one CPU leaves one. Memory is MemTotal or the tightest cgroup
// limit. No GPU driver means no GPUs; a driver that fails is an error.
Result<Machine> detect_machine(const MachineOptions& options);

}  // namespace orrery
