#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/live_commands.h"

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
};

struct ServeArguments {
  std::string state{};
  bool local = false;  // with an agent for this machine
  std::string policy = "fifo";
  std::vector<std::string> options{};  // key=value
  std::uint64_t seed = 0;
  std::string round{};  // empty: whenever something happens
  std::string listen = "127.0.0.1:0";
  std::string rest{};                // empty: the host of `listen`; "off": for joining alone
  std::vector<std::string> hosts{};  // further names the scheduler is reached by
  std::string lease = "15s";
  std::string node_timeout = "12h";
  int gpus = -1;  // of the agent; -1: what there is
  std::string name{};
  JobLimitArguments limits{};
  std::string profiles{};  // of models, a file or a folder
  std::string gpu_type{};  // whose profiles are meant, of jobs that do not say
};
Status serve_command(const ServeArguments& arguments);

struct AgentArguments {
  std::string state{};
  std::string server{};
  std::string credentials{};
  std::string name{};
  std::string address{};
  int gpus = -1;
  JobLimitArguments limits{};
};
Status agent_command(const AgentArguments& arguments);

void add_service_commands(CLI::App& app, std::function<Status()>& run);

// A log that `orrery record` wrote of a live scheduler: does the same code decide the same?
Status replay_live(const ReplayArguments& arguments);

}  // namespace orrery
