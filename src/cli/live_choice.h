#pragma once

#include "cli/main.h"

namespace orrery {

// Each asks the running scheduler where one is meant: where no trace is named, or for replay where
// the file is the log of one. Otherwise they are the command over files.
Status whatif_or_live(const WhatifArguments& arguments, const LiveCommands& live);
Status record_or_live(const RecordArguments& arguments, const LiveCommands& live);
Status replay_or_live(const ReplayArguments& arguments, const LiveCommands& live);

}  // namespace orrery
