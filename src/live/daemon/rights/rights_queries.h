#pragma once

#include "live/api/api_rights.h"
#include "live/daemon/core/core.h"

namespace orrery {

// The tenants with a list of members. Users get those that they are members of.
TenantsAnswer tenants_of(const Core& core, const Caller& caller);

// The limits in force: of each user and each tenant, of those that have limits of their own, and of
// those that hold or wait for something. Users get their own and those of their tenants.
LimitsAnswer limits_of(const Core& core, const Caller& caller);

}  // namespace orrery
