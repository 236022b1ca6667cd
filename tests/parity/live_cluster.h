#pragma once

#include <map>
#include <memory>
#include <vector>

#include "live/agent/fake_processes.h"
#include "live/agent/node_agent.h"
#include "live/daemon/core/core.h"
#include "parity/scenario.h"

namespace orrery {

// What lies between clients, scheduler and agents. Whatever is handed to it arrives before anything
// else happens; here it is there at once.
class Wire {
 public:
  virtual ~Wire() = default;
  // A connection for an agent, and its number.
  virtual std::int64_t connect(std::size_t agent) { return static_cast<std::int64_t>(agent) + 1; }
  virtual SubmitRequest carry(SubmitRequest request) { return request; }
  virtual Report carry(std::size_t /*agent*/, Report report) { return report; }
  virtual Orders carry(std::size_t /*agent*/, Orders orders) { return orders; }
};

// The scheduler's and the agents' own code under a clock that is driven: it stands still until
// no message is left. Processes are made up and end at the times that the test sets.
class LiveCluster {
 public:
  LiveCluster(const Scenario& scenario, const ChosenPolicy& policy, Wire& wire);

  const Core& core() const { return core_; }
  // Lets the scenario pass until everything at `last` has happened, with jobs that end then and not
  // before, whenever they were started. Answers why it could not, or nothing.
  std::string run(std::map<JobNumber, Time> ends, Time last);
  std::vector<Decision> decisions() const { return decisions_; }
  int starts() const;  // of processes, in all

 private:
  struct Machine {
    std::unique_ptr<FakeProcesses> processes{};
    std::unique_ptr<NodeAgent> agent{};
    std::int64_t connection = 0;
  };

  void add_machine(const Node& node);
  void talk();
  void submit_due();
  std::string let_pass(Time now);
  Time next_instant() const;
  void take_records();

  const Scenario& scenario_;
  Wire& wire_;
  Core core_;
  std::vector<Machine> machines_;
  std::map<JobNumber, Time> ends_;
  std::vector<Decision> decisions_;
  std::size_t submitted_ = 0;
  Time now_{};
};

}  // namespace orrery
