#pragma once

#include <span>

namespace orrery {

// |a|^2 and <a, b>, summed in double in an order that does not depend on the machine. The first is
// finite only if every number is.
double norm2(std::span<const float> a);
double dot(std::span<const float> a, std::span<const float> b);

// sum += weight * a, element by element.
void add_weighted(std::span<float> sum, double weight, std::span<const float> a);

}  // namespace orrery
