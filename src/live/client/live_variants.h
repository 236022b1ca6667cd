#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "live/client/command_context.h"

// Commands that otherwise work on files, asked of a running scheduler.

namespace orrery {

struct LiveWhatif {
  ConnectionArguments connection{};
  std::string job{};       // gpus=4,time=2h,...; neither: what would become of those that wait
  std::string job_file{};  // a job file with one job
  std::string policy{};    // empty: the one that rules
  int nodes_more = 0;
  bool json = false;
};
Status live_whatif(const LiveWhatif& question, const CommandContext& context);

struct LiveRecord {
  ConnectionArguments connection{};
  std::string output{};
  bool json = false;
};
// Writes every event the scheduler keeps, a line each, after a line {"orrery_live_log":1}. The file
// is there whole or not at all.
Status live_record(const LiveRecord& record, const CommandContext& context);

// Hands over every event the scheduler keeps, in order, as the lines of such a file.
Status each_live_event(const ConnectionArguments& connection, const CommandContext& context,
                       const std::function<Status(const std::string& line)>& take);

}  // namespace orrery
