#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

// CPUs and host memory, of a node, a job or one GPU's share of either.
struct HostShare {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;

  bool operator==(const HostShare&) const = default;
};

// How fast a job is with some CPUs and memory for each of its GPUs, over its speed with
// the share that JobSpec::iteration_s was measured at. Between the points speeds are interpolated,
// beyond them the last one counts.
struct Sensitivity {
  std::vector<std::int64_t> cpu_milli;     // for each GPU, rising
  std::vector<std::int64_t> memory_bytes;  // for each GPU, rising
  std::vector<double> speed;               // [cpu * memory_bytes.size() + memory]
  HostShare ideal;                         // what a job of this kind wants for each GPU: see knee()

  bool operator==(const Sensitivity&) const = default;
};

// The speed with this much in all for this many GPUs.
double speed_with(const Sensitivity& sensitivity, const HostShare& held, int gpus);

// The least of the points with this part of the greatest speed: the fewest CPUs, then the least
// memory.
inline constexpr double kKneeShare = 0.97;
HostShare knee(const Sensitivity& sensitivity, double part = kKneeShare);

}  // namespace orrery
