#pragma once

#include "scheduling/policy/registry.h"

namespace orrery {

// Policies of released simulators, for the tables of published.cc.
MakePolicy published_elasticflow;
MakePolicy published_edf;
MakePolicy published_edf_admission;
MakePolicy published_las_of_muri;
MakePolicy published_las_of_elasticflow;
MakePolicy published_las_alone_of_synergy;
MakeOrder published_las_of_synergy;

}  // namespace orrery
