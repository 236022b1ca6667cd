#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "commands/live_commands.h"
#include "live/api/job_request.h"

namespace CLI {
class App;
}

namespace orrery {

// The processes of a live cluster: `orrery serve` and `orrery agent`.

// What jobs of an agent may do, as people write it.
struct JobLimitArguments {
  std::string cgroup = "auto";  // a directory, or off
  std::int64_t processes = 32'768;
  std::string core = "0";       // a size, or unlimited
  std::string log_size = "1G";  // or unlimited
  std::string log_age = "30d";  // 0: for ever
  bool operator==(const JobLimitArguments&) const = default;
};

// Servers that the scheduler acquires.
struct HeldServersArguments {
  std::string provider{};  // local or gce; empty: none
  std::string file{};      // docs/formats/provider-file.md
};

// In the background: returns when the scheduler answers.
struct DetachArguments {
  bool detach = false;
  bool json = false;  // prints where it is
};

struct ServeArguments {
  std::string state{};  // empty: as clients find it
  bool local = false;   // with an agent for this machine
  DetachArguments background{};
  std::string policy = "fifo";
  std::vector<std::string> options{};  // key=value
  std::uint64_t seed = 0;
  std::string round{};  // empty: whenever something happens
  std::string listen = "127.0.0.1:0";
  std::string rest{};                // empty: the host of `listen`; "off": for joining alone
  bool other_users = false;          // serves them although it does not run as root
  std::vector<std::string> hosts{};  // of its certificate, besides those of `listen` and `rest`
  std::string lease = "15s";
  std::string node_timeout = "12h";
  bool new_log = false;  // although there was one
  int gpus = -1;         // of the agent; -1: what there is
  std::string name{};
  JobLimitArguments limits{};
  std::string profiles{};  // of models, a file or a folder
  std::string gpu_type{};  // whose profiles are meant, of jobs that do not say
  HeldServersArguments servers{};
};
Status serve_command(const ServeArguments& arguments);

struct AgentArguments {
  std::string state{};
  std::string server{};
  std::string credentials{};
  std::string name{};
  std::string address{};
  std::string zone{};
  double losses_per_day = 0;
  std::string gpu_type{};
  int gpus = -1;
  JobLimitArguments limits{};
};
Status agent_command(const AgentArguments& arguments);

struct BackupArguments {
  std::string state{};
  std::string output{};
  bool json = false;
};
// A copy of the scheduler's log, also while it runs.
Status backup_command(const BackupArguments& arguments);

struct RestoreArguments {
  std::string state{};
  std::string backup{};
  bool as_is = false;  // go on with the log that is there, although it lacks something
  bool json = false;
};
// Puts a copy of the log back, so that the scheduler can go on from it: see LogNamed.
Status restore_command(const RestoreArguments& arguments);

// An error where the log is missing although there was one: `state` has an authority.
Status check_log_is_there(const std::string& state, bool new_log);
// For a new log where there was one: beyond the numbers of the old jobs.
JobNumber first_number_of_new_log(const std::string& state);

void add_service_commands(CLI::App& app, std::function<Status()>& run);

// A log that `orrery record` wrote of a live scheduler: does the same code decide the same?
Status replay_live(const ReplayArguments& arguments);

}  // namespace orrery
