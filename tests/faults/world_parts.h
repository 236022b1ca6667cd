#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/agent/fake_processes.h"
#include "live/agent/node_agent.h"
#include "live/daemon/core/core.h"

// What a world is made of.

namespace orrery {

// How rough a world is. Chances are for each step, of which there are some ten a second.
struct Weather {
  double lost = 0.05;  // of messages
  double doubled = 0.03;
  double late = 0.1;         // up to 20 s
  double partition = 0.004;  // of an agent, one way or both, up to a minute
  double scheduler_crash = 0.004;
  double power_cut = 0.3;  // of these crashes: what was not synced is gone as well
  double disk_fault = 0.004;
  double agent_crash = 0.006;
  double machine_reboot = 0.001;
  double user = 0.3;        // a user submits, cancels, drains, changes the policy
  double state_lost = 0.3;  // of these reboots: the agent's state directory as well
  Duration runs = std::chrono::seconds(40);  // a job at the longest
  bool operator_looks = true;                // and says of machines that are off that they are
  double hasty = 0.2;  // of the jobs: have a node timeout of their own, a minute at most
  // Of the scheduler; none: another one at each start.
  std::optional<Duration> node_timeout{};
};

struct FakeMachine {
  std::string name{};
  int gpus = 0;
  double rate = 1;    // of its clock
  Duration offset{};  // of its boot
  std::unique_ptr<FakeProcesses> processes{};
  std::unique_ptr<NodeAgent> agent{};  // none: it is down
  bool off = false;                    // and so is the machine
  int boot = 1;
  int instance = 1;  // of the agent's state directory
  Duration agent_back{};
  std::int64_t connection = 0;
  Duration cut_to_scheduler{};  // until then nothing gets through
  Duration cut_from_scheduler{};
};
struct Message {
  Duration at{};
  std::size_t machine = 0;
  std::int64_t connection = 0;
  std::optional<Report> report{};  // else orders
  std::optional<Orders> orders{};
};
// A submission that its user waits for.
struct OpenSubmission {
  std::string key{};
  SubmitRequest request{};
  Duration again{};
};
// What the scheduler would say once its records are on disk.
struct Held {
  std::vector<Record> records{};
  std::vector<Core::Outgoing> orders{};
  std::vector<std::pair<std::string, SubmitAnswer>> answers{};
  std::vector<JobNumber> cancelled{};
};

}  // namespace orrery
