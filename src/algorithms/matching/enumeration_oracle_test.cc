#include "algorithms/matching/matching_oracle.h"

#include <algorithm>
#include <bit>

namespace orrery {

std::int64_t heaviest_by_enumeration(const std::vector<int>& kind_of,
                                     const std::vector<std::int64_t>& weights, int kinds) {
  const int nodes = static_cast<int>(kind_of.size());
  std::vector<std::int64_t> heaviest(std::size_t{1} << nodes, 0);
  for (std::size_t set = 1; set < heaviest.size(); ++set) {
    const int first = std::countr_zero(set);
    const std::size_t rest = set & (set - 1);
    heaviest[set] = heaviest[rest];
    for (int other = first + 1; other < nodes; ++other) {
      const std::size_t bit = std::size_t{1} << other;
      const std::int64_t weight = weights[kind_of[first] * kinds + kind_of[other]];
      if ((rest & bit) == 0 || weight <= 0) continue;
      heaviest[set] = std::max(heaviest[set], weight + heaviest[rest ^ bit]);
    }
  }
  return heaviest.back();
}

}  // namespace orrery
