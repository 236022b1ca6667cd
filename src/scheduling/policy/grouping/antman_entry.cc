#include "scheduling/policy/families.h"
#include "scheduling/policy/grouping/policies.h"

namespace orrery {
namespace {

Result<std::unique_ptr<Policy>> antman(const Options& /*options*/,
                                       const PolicyContext& /*context*/) {
  return make_antman();
}

}  // namespace

const PolicyInfo kAntmanPolicy = {
    "antman",
    "guaranteed jobs own devices, opportunistic ones use what they leave",
    {},
    antman,
    nullptr,
    {.stages = true,
     .classes = true,
     .without = "an opportunistic job beside another runs at half its speed"},
    {.preempts = false, .shares_gpus = true}};

}  // namespace orrery
