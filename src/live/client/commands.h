#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "live/client/command_context.h"
#include "live/client/job_filter.h"
#include "report/listing/list_arguments.h"

namespace CLI {
class App;
}

namespace orrery {

// Adds all of them, or `submit` alone. The one that is chosen puts what it does into `run`, to be
// called after parsing; `program` are the words after -- on the command line.
void add_live_commands(CLI::App& app, std::function<Status()>& run,
                       const std::vector<std::string>& program,
                       std::shared_ptr<const CommandContext> context);
decltype(add_live_commands) add_submit_command;

// The arguments of each command, and the command, which checks them.

struct SubmitArguments {
  ConnectionArguments connection{};
  std::string file{};                                           // a job file; -: standard input
  std::vector<std::pair<std::string, std::string>> settings{};  // as job_draft.h names them
  std::vector<std::string> variables{};                         // NAME=VALUE, or NAME
  std::vector<std::string> program{};                           // with its arguments
  std::vector<std::string> unexpected{};                        // words that are nothing of these
  bool wait = false;
  bool json = false;
};
Status submit_command(const SubmitArguments& arguments, const CommandContext& context);

struct StatusArguments {
  ConnectionArguments connection{};
  std::vector<std::string> ids{};  // 17, 17-20
  bool all = false;                // those that have ended, too
  JobFilter filter{};
  std::int64_t limit = 0;   // 0: all
  std::string wait_idle{};  // a duration
  bool watch = false;
  ListArguments list{};
};
Status status_command(const StatusArguments& arguments, const CommandContext& context);

struct CancelArguments {
  ConnectionArguments connection{};
  std::vector<std::string> ids{};
  JobFilter filter{};  // instead of numbers; without a user the caller's own
  bool yes = false;    // several jobs that were not named are cancelled without a question
  bool json = false;
};
Status cancel_command(const CancelArguments& arguments, const CommandContext& context);

struct LogsArguments {
  ConnectionArguments connection{};
  std::vector<std::string> ids{};  // 17, 17-20
  int rank = 0;
  std::optional<std::int64_t> tail{};  // lines from the end; none: everything
  bool errors = false;                 // standard error instead
  bool follow = false;
  bool json = false;
};
Status logs_command(const LogsArguments& arguments, const CommandContext& context);

struct NodesArguments {
  ConnectionArguments connection{};
  ListArguments list{};
};
Status nodes_command(const NodesArguments& arguments, const CommandContext& context);

struct DrainArguments {
  ConnectionArguments connection{};
  DrainRequest request{};
  bool json = false;
};
Status drain_command(const DrainArguments& arguments, const CommandContext& context);

struct EventsArguments {
  ConnectionArguments connection{};
  std::optional<std::int64_t> from{};  // none: the first; the last few where it follows
  bool follow = false;
  bool json = false;
};
Status events_command(const EventsArguments& arguments, const CommandContext& context);

struct PolicyArguments {
  ConnectionArguments connection{};
  std::string policy{};                // empty: show it
  std::vector<std::string> options{};  // key=value
  bool json = false;
};
Status policy_command(const PolicyArguments& arguments, const CommandContext& context);

struct QuotaArguments {
  ConnectionArguments connection{};
  std::string tenant{};  // empty: show all
  std::string gpus{};    // a number, or none; empty: show it
  bool no_borrow = false;
  ListArguments list{};
};
Status quota_command(const QuotaArguments& arguments, const CommandContext& context);

}  // namespace orrery
