#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "live/client/command_context.h"
#include "report/listing/list_arguments.h"

namespace orrery {

struct TenantsArguments {
  ConnectionArguments connection{};
  std::string tenant{};  // empty: show all
  std::vector<std::string> add{};
  std::vector<std::string> remove{};
  bool forget = false;
  ListArguments list{};
};
// Shows or changes the members of tenants.
Status tenants_command(const TenantsArguments& arguments, const CommandContext& context);

struct LimitsArguments {
  ConnectionArguments connection{};
  std::string scope{};  // user, tenant, users, tenants; empty: show all
  std::string name{};
  // A number, none or default; empty: not changed.
  std::string priority{};
  std::string gpus{};
  std::string pending{};
  std::string submissions{};
  ListArguments list{};
};
// Shows or changes the limits of users and tenants.
Status limits_command(const LimitsArguments& arguments, const CommandContext& context);

}  // namespace orrery
