#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

// CPUs as the kernel writes them, "0-3,8": sorted, each once.
Result<std::vector<int>> read_cpu_list(std::string_view text);
std::string cpu_list_text(const std::vector<int>& cpus);

// Whole CPUs for jobs, near one another where they can be. A CPU is never with two jobs.
//
// After Synergy (OSDI '22): the NUMA node with the fewest free CPUs that fits; where none fits,
// CPUs are collected from nodes in ascending order of what they have free. Ties go to the lower
// node, and the lowest CPUs of a node go first, so what is handed out depends on the calls alone.
class CpuSets {
 public:
  // The CPUs of each NUMA node; no CPU is on two.
  explicit CpuSets(std::vector<std::vector<int>> nodes);

  int free_count() const;
  const std::vector<std::vector<int>>& free() const { return free_; }  // by node, sorted

  // Sorted; nothing where fewer than `count` are free. 0 gives an empty set.
  std::optional<std::vector<int>> take(int count);
  // Takes exactly these, as jobs that were running before the agent hold them. Refuses, and takes
  // nothing, where one of them is not free or not of this machine.
  Status claim(const std::vector<int>& cpus);
  // They must have been taken.
  void give_back(const std::vector<int>& cpus);

 private:
  std::optional<std::size_t> node_of(int cpu) const;

  std::vector<std::vector<int>> all_;
  std::vector<std::vector<int>> free_;
};

}  // namespace orrery
