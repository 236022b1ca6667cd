#pragma once

#include "scheduling/policy/registry.h"

namespace orrery {

// An order followed by an allocator of CPUs and memory.
Result<PolicySetup> make_hosted(const PolicyInfo& order, const PolicyName& parsed,
                                const PolicyContext& context);

}  // namespace orrery
