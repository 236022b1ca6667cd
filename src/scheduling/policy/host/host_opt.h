#pragma once

#include <memory>

#include "scheduling/policy/host/host_choice.h"

namespace orrery {

// The jobs for which there are GPUs share the cluster's CPUs and memory so that the sum of their
// speeds is greatest, and no job is slower than with the fair share; as if it were one server. Then
// they are seated, those that stay where they are and the others where what they are meant to have
// fits. On a server where it does not, its jobs share what it has by the same rule. After Synergy's
// optimum (OSDI '22, section 4), with a rounding that gives a schedule.
std::unique_ptr<HostAllocator> make_opt(HostWeight weight);

}  // namespace orrery
