#pragma once

#include <memory>

#include "scheduling/policy/deadline/elastic_grants.h"

namespace orrery {

// The order in which the released schedulers fill empty nodes, in each round.
enum class FillOrder : std::uint8_t { BySize, AsGiven };

// Places every job again in each round, as NodeFill does. Where jobs ask for more than GPUs, or
// nodes differ, it does as ElasticGrants.
std::unique_ptr<ElasticGrants> make_node_fill_grants(FillOrder order);

}  // namespace orrery
