#pragma once

#include "scheduling/policy/registry.h"

namespace orrery {

// What released simulators made of policies, for the tables of their worlds.
MakePolicy las_of_muri;
MakeOrder las_order_of_muri;
MakePolicy themis_of_muri;
MakePolicy antman_of_muri;
MakePolicy muri_s_of_muri;
MakePolicy muri_l_of_muri;
ReleasedLoop muri_loop(const Options& options);  // of muri-s and muri-l

MakePolicy las_of_elasticflow;
MakeOrder las_order_of_elasticflow;
MakePolicy themis_of_elasticflow;
MakePolicy gandiva_of_elasticflow;
MakePolicy elasticflow_of_elasticflow;
MakePolicy edf_of_elasticflow;
MakePolicy edf_admission_of_elasticflow;

MakePolicy las_of_synergy;
MakeOrder las_order_of_synergy;

}  // namespace orrery
