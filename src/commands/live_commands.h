#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "commands/commands.h"

namespace orrery {

// The commands over files that can be asked of a running scheduler, too.

// The running scheduler that is meant instead of a trace.
struct LiveArguments {
  std::string state{};  // its state directory
  std::string server{};
  std::string credentials{};
  std::string context{};
};

struct RecordArguments {
  SimulateArguments run{};
  LiveArguments live{};
  std::string output{};
  std::string format{};  // events, orrery or synergy; empty: by the name of the output
};
enum class RecordFormat : std::uint8_t { Events, Orrery, Synergy };
Result<RecordFormat> record_format(const RecordArguments& arguments);
Status record_command(const RecordArguments& arguments);

struct ReplayArguments {
  std::string input{};  // an event log, or a trace
  // What else is to be tried; for a trace, what it takes to run it.
  std::vector<std::string> policies{};
  std::vector<std::string> options{};
  std::string cluster{};
  std::string semantics{};  // for a trace only
  std::string report{};
  int threads = 0;
  bool json = false;
  bool quiet = false;
};
Status replay_command(const ReplayArguments& arguments);

struct WhatifArguments {
  std::string trace{};
  LiveArguments live{};
  int nodes_more = 0;  // live only
  std::string cluster{};
  std::string policy{};
  std::string job{};       // key=value,...
  std::string job_file{};  // a trace of one job
  std::string trace_format = "auto";
  std::string profiles{};
  std::string gpu_type{};
  std::string semantics = "orrery";
  std::vector<std::string> options{};
  std::uint64_t seed = 0;
  std::string round{};
  std::int64_t limit = 0;
  int threads = 0;
  bool json = false;
  bool quiet = false;
};
Status whatif_command(const WhatifArguments& arguments);

// What is done where a running scheduler is meant. One that is not there cannot be asked.
struct LiveCommands {
  std::function<Status(const WhatifArguments&)> whatif{};
  std::function<Status(const RecordArguments&)> record{};
  std::function<Status(const ReplayArguments&)> replay{};  // of a log that record wrote
};

// A scheduler is meant where no trace is named, or for replay where the file is the log of one.
// Otherwise these are the commands over files.
Status whatif_or_live(const WhatifArguments& arguments, const LiveCommands& live);
Status record_or_live(const RecordArguments& arguments, const LiveCommands& live);
Status replay_or_live(const ReplayArguments& arguments, const LiveCommands& live);

}  // namespace orrery
