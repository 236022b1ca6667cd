#pragma once

#include <functional>
#include <span>
#include <vector>

namespace orrery {

// The point that makes `cost` least, found by the simplex of Nelder and Mead, started again from
// its result until that no longer helps. For a few dimensions and costs with kinks. A cost may be
// infinite; `start` is finite and not 0 in any coordinate.
std::vector<double> find_minimum(const std::function<double(std::span<const double>)>& cost,
                                 std::vector<double> start);

}  // namespace orrery
