#include "scheduling/policy/families.h"
#include "scheduling/policy/published/makers.h"

namespace orrery {

// AntMan as released with Muri's simulator, which adds these up in floating point: what rounding
// leaves of a job that has gone decides between devices that are otherwise equal.
Result<std::unique_ptr<Policy>> antman_of_muri(const Options& /*options*/,
                                               const PolicyContext& /*context*/) {
  return make_antman({.guaranteed = 0.1, .starting = 0.01, .opportunistic = 0.9});
}

}  // namespace orrery
