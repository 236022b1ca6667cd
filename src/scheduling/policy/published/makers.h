#pragma once

#include "scheduling/policy/registry.h"

namespace orrery {

// Policies of released simulators, for the tables of published.cc.
MakePolicy published_elasticflow;
MakePolicy published_edf;
MakePolicy published_edf_admission;

}  // namespace orrery
