#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/executor.h"
#include "control/state.h"
#include "model/event.h"
#include "placement/packer.h"
#include "policy/policy.h"

namespace orrery {

// The scheduling round: admit, plan, place, diff, act. The one place where decisions become
// actions, used unchanged over simulated and real machines.
//
// Time is handed in; what happens outside is told by submit(), held(), paused() and ended(). Each
// becomes an event with the next sequence number, changes the state and goes to the sink.
class Scheduler {
 public:
  struct Parts {
    const Workload& workload;
    const Cluster& cluster;
    Policy& policy;
    Packer& packer;
    Executor& executor;
    EventSink& sink;
    const Progress* progress = nullptr;  // who knows how far jobs have come, if not the executor
  };
  explicit Scheduler(const Parts& parts)
      : parts_(parts), state_(parts.cluster.nodes.size(), parts.workload.jobs.size()) {}

  void submit(const JobSpec& spec, Time now);

  // One round. Answers when the policy wants the next one even if nothing happens.
  Time hold_round(Time now);

  // From the executor.
  void held(const Action& action, Time ready, double work_left);
  void paused(JobId job, double work_left, const Reason& reason);
  // From the executor or an owner: Completed, Failed or Cancelled.
  void ended(JobId job, EventKind how, double work_left, Time now) {
    ended(job, how, work_left, now, now);
  }
  // The same where its last iteration was done earlier than its devices are free.
  void ended(JobId job, EventKind how, double work_left, Time now, Time finished);

  const State& state() const { return state_; }
  std::uint64_t events() const { return sequence_; }

 private:
  void admit();
  void act(Plan& plan);
  void emit(Event& event);
  void release(const Job& job);

  const Parts parts_;
  State state_;
  Plan plan_;
  std::vector<JobId> arrived_;
  std::vector<JobId> ended_;
  std::vector<NodeId> freed_;
  Time now_{};
  std::uint64_t sequence_ = 0;
};

}  // namespace orrery
