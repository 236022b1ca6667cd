#include "scheduling/prediction/opportunistic.h"

#include <algorithm>
#include <cmath>

#include "base/invariant.h"

namespace orrery {

double opportunistic_iteration_s(const StageProfile& own, const StageProfile& guaranteed,
                                 double guaranteed_iteration_s) {
  INVARIANT(own.stage_s.size() == 3 && guaranteed.stage_s.size() == 3, "three stages on each side");
  const double data = own.stage_s[0];
  double compute = own.stage_s[1];
  double network = own.stage_s[2];
  const double* other = guaranteed.stage_s.data();

  // While the other does without a resource, this one may use it.
  const double data_gap = other[1] + other[2];
  const double compute_gap = other[0] + other[2];
  const double network_gap = other[0] + other[1];
  if (data_gap <= 0 || compute_gap <= 0 || network_gap <= 0) return 0;

  double iterations = std::floor(data / data_gap);
  const double data_over = std::fmod(data, data_gap);
  if (data_over > 0) {
    iterations += 1;
    compute -= std::min({compute, other[2], data_gap - data_over});
  }
  iterations += std::floor(compute / compute_gap);
  const double compute_over = std::fmod(compute, compute_gap);
  if (compute_over > 0) {
    iterations += 1;
    if (compute_over < other[0]) network -= std::min(network, network_gap - compute_over);
  }
  iterations += std::floor(network / network_gap);
  if (std::fmod(network, network_gap) > other[0]) iterations += 1;
  return iterations * guaranteed_iteration_s;
}

}  // namespace orrery
