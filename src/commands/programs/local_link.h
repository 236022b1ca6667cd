#pragma once

#include <memory>

#include "live/api/agent_link.h"

namespace orrery {

// An agent in the scheduler's own process: both ends of a connection without a wire.
std::unique_ptr<SchedulerLink> link_locally(AgentHost& host, const std::string& node,
                                            OnOrders on_orders);

}  // namespace orrery
