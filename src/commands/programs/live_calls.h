#pragma once

#include "commands/live_commands.h"
#include "live/client/command_context.h"

namespace orrery {

// What `orrery whatif` and `orrery record` do where a running scheduler is meant.
Status whatif_live(const WhatifArguments& arguments, const CommandContext& context);
Status record_live(const RecordArguments& arguments, const CommandContext& context);

}  // namespace orrery
