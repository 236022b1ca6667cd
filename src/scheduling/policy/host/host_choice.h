#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduling/policy/host/host_cells.h"

namespace orrery {

// What a job's speed is worth: the same for all jobs, or in proportion to their GPUs.
enum class HostWeight { None, Gpus };

// How many of the jobs of each kind have each of its cells: [kind][cell].
using CellCounts = std::vector<std::vector<int>>;

// Gives every job a cell, so that the sum of their speeds is greatest and all together stay within
// `capacity`: stage 1 of Synergy's optimum (OSDI '22, section 4). `jobs` counts the jobs of each
// kind. Where the best is not proved within that many nodes it is rounded from the solution in real
// numbers, with the minimum cells for those that have no whole one. Nothing if not even their
// minimum cells fit.
inline constexpr int kChoiceNodes = 2000;  // of the search
std::optional<CellCounts> choose_cells(std::span<const HostKind> kinds, std::span<const int> jobs,
                                       const HostShare& capacity, HostWeight weight,
                                       int nodes_max = kChoiceNodes);

// No schedule that gives each of these jobs its fair speed is faster in sum, even if all servers
// were one: the programs in real numbers, so that levels between the points count too. 0 if what
// the jobs ask for does not fit. Jobs that fit the largest server are taken to have no more than
// that has; where a schedule may scatter them, say that it has all.
struct HostBound {
  double speed = 0;      // the greatest sum of speeds
  double gpu_speed = 0;  // the greatest sum of speeds times GPUs
};
HostBound host_bound(std::span<const HostAllocator::Asker> askers, const HostCapacity& capacity);

}  // namespace orrery
