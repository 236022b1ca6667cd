#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/event.h"
#include "scheduling/placement/packer.h"
#include "scheduling/policy/policy.h"
#include "scheduling/scheduler/executor.h"
#include "scheduling/scheduler/plan_laws.h"
#include "scheduling/scheduler/state.h"

namespace orrery {

// The scheduling round: admit, plan, place, diff, act. The one place where decisions become
// actions, used unchanged over simulated and real machines.
//
// Time is handed in; what happens outside is reported by submit(), held(), paused() and ended().
// Each becomes an event with the next sequence number, changes the state and goes to the sink.
class Scheduler {
 public:
  struct Parts {
    const Workload& workload;
    const Cluster& cluster;
    Policy& policy;
    Packer& packer;
    Executor& executor;
    EventSink& sink;
    const Progress* progress = nullptr;  // how far jobs have come, if not by the executor
    // True if a job that fits no node even if all were open waits for nodes to come.
    bool infeasible_waits = false;
    // Jobs that have ended are forgotten when the policy has seen it. No policy may take over.
    bool forgets_ended = false;
  };
  explicit Scheduler(const Parts& parts);
  void submit(const JobSpec& spec, Time now);
  // One round. Answers when the policy wants the next one even if nothing happens.
  Time hold_round(Time now);
  // From the executor; or, without being asked, from a part that knows that a job lost its devices.
  void held(const Action& action, Time ready, double work_left);
  void paused(JobId job, double work_left, const Reason& reason, double work_lost = 0);
  void node_changed(NodeId node, EventKind kind, Time now);  // what follows is the caller's
  // From the executor or an owner: Completed, Failed or Cancelled.
  void ended(JobId job, EventKind how, double work_left, Time now) {
    ended(job, how, work_left, now, now);
  }
  // The same where its last iteration was done earlier than its devices are free, or with a reason.
  void ended(JobId job, EventKind how, double work_left, Time now, Time finished,
             const Reason& reason = {});

  // Another policy, or a new instance of the same, decides from the next round on, perhaps on
  // another cluster; nodes keep their numbers. The packer is fresh and takes in what jobs hold. All
  // jobs that are not final are shown to the policy as arrived, except jobs on hold and jobs on
  // nodes that are not open: these run on out of sight until the next take-over. A job that cannot
  // go on under the policy is paused first.
  void take_over(Policy& policy, Packer& packer, const Cluster& cluster);
  // An event of a log, in its order: changes the state and is not reported. take_over() follows the
  // last one.
  void recover(const Event& event);
  // The next job, as it was in another scheduler's state; likewise. `reported` is the reason for
  // which it waits, if that was reported and it has not run since.
  void restore(Job job, Reason::Code reported);
  void set_time(Time now) { now_ = now; }

  // A job that does not run is kept from the policy's sight until it is released.
  void hold(JobId job, const Reason& reason);
  void release(JobId job);
  bool is_on_hold(JobId job) const { return sight_[index(job)] == Sight::OnHold; }

  const State& state() const { return state_; }
  const Policy& policy() const { return *policy_; }
  std::uint64_t events() const { return sequence_; }

 private:
  enum class Sight : std::uint8_t {
    Arrives,   // will be shown in the next round
    Shown,     //
    OnHold,    //
    NotHere,   // fits no node that is open
    Detached,  // runs on a node that is not open
  };

  View view(Time now);
  void admit();
  void settle_adopted();
  bool adopt(const View& view, JobId job);
  void detach();
  void queue_not_here(JobId job);
  bool fits_in_place(const Job& job, const Grant& grant);
  bool is_on_closed_node(const Job& job) const;
  void arrive(JobId job);
  void note_reported(const Event& event);
  void forget_ended(std::size_t count);
  void act(const Plan& plan, std::span<const Grant* const> changed);
  void emit(Event& event);
  void free_devices(const Job& job);

  const Parts parts_;
  const Cluster* cluster_;
  Policy* policy_;
  Packer* packer_;
  State state_;
  Plan plan_;
  PlanLaws laws_;
  std::vector<Sight> sight_;            // by job
  std::vector<Reason::Code> reported_;  // by job: why it waits, unless it has run since
  std::vector<JobId> arrived_;
  std::vector<JobId> ended_;
  std::vector<NodeId> freed_;
  std::vector<JobId> final_;    // to be forgotten
  std::vector<JobId> running_;  // in sight, where others run as well
  int detached_ = 0;
  bool taken_over_ = false;  // and no round was held since
  bool acting_ = false;      // what is paused was asked for
  Time now_{};
  std::uint64_t sequence_ = 0;
};

}  // namespace orrery
