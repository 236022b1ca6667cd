#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace orrery {

// Puts positive values of similar size together: clustering by Ward's linkage, which joins the two
// groups with the least sqrt(2 |A| |B| / (|A| + |B|)) * |mean A - mean B| until that is not below
// `threshold` of the values' median. Groups of indices, the smallest values first; indices within a
// group likewise, the smaller index first where values are equal.
//
// After STAR (2025), whose threshold is 50 ms whatever the values are.
std::vector<std::vector<std::size_t>> ward_groups(std::span<const double> values,
                                                  double threshold = 0.15);

}  // namespace orrery
