#pragma once

#include "base/result.h"
#include "live/client/command_context.h"

namespace orrery {

// `orrery context`: the schedulers that the user has names for. No scheduler is asked.
Status context_list_command(const ListArguments& arguments, const CommandContext& context);

struct ContextShowArguments {
  ConnectionArguments connection{};
  ListArguments list{};
};
// The scheduler that a command with these arguments uses.
Status context_show_command(const ContextShowArguments& arguments, const CommandContext& context);

struct ContextArguments {
  NamedContext context{};
  bool json = false;
};
Status context_use_command(const ContextArguments& arguments, const CommandContext& context);
Status context_add_command(const ContextArguments& arguments, const CommandContext& context);
Status context_remove_command(const ContextArguments& arguments, const CommandContext& context);

}  // namespace orrery
