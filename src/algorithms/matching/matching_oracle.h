#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

// Two ways to the weight of a heaviest matching that share nothing with ours, for the tests. Nodes
// have kinds and weights go by kinds, as in Blossom.

// Tries every matching; up to 20 nodes.
std::int64_t heaviest_by_enumeration(const std::vector<int>& kind_of,
                                     const std::vector<std::int64_t>& weights, int kinds);

std::int64_t heaviest_by_lemon(const std::vector<int>& kind_of,
                               const std::vector<std::int64_t>& weights, int kinds);

}  // namespace orrery
