#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/api/api.h"
#include "live/daemon/agents/fences.h"
#include "live/daemon/agents/foreign_agents.h"
#include "live/daemon/agents/rendezvous.h"
#include "live/daemon/core/core_parts.h"
#include "live/daemon/log/book.h"
#include "live/daemon/rights/disclosure.h"
#include "scheduling/policy/registry.h"
#include "scheduling/scheduler/estimated_machines.h"
#include "scheduling/scheduler/scheduler.h"

namespace orrery {

// The scheduler without clock, disk and network: what comes in is told by calls with the time, what
// goes out is taken from it, and the same calls give the same records and orders. It decides by
// control/, keeps the log's meaning in a Book, and sees to it that no job runs twice at once.
//
// Records must be on disk before orders or answers that were taken with or after them leave the
// house. For one thread at a time.
class Core final : private EventSink {
 public:
  explicit Core(CoreOptions options);
  ~Core() override;

  // Recovery: a snapshot if there is one, the log from there on, in order, then begin().
  Status restore(std::string_view snapshot);
  Status recover(const Record& record);
  // Takes up work: a new term. `unix_ns` is what time it is, for a log that begins here.
  Status begin(std::int64_t unix_ns, Time now);

  // Clients. `caller` has been told apart and may do this.
  Result<SubmitAnswer> submit(const Caller& caller, SubmitRequest request, Time now);
  Result<CancelAnswer> cancel(const Caller& caller, const CancelRequest& request, Time now);
  Status drain(const Caller& caller, const DrainRequest& request, Time now);
  Status set_policy(const Caller& caller, const PolicyRequest& request, Time now);
  Status set_quota(const Caller& caller, const QuotaRequest& request, Time now);
  // One without jobs. The connection that its agent has is refused from now on.
  Status remove_node(const Caller& caller, const RemoveNodeRequest& request, Time now);
  // The entry is one that book().entitlements().changed() gave.
  void set_rights(const Entry& entry, Time now);
  void keep_token(const TokenKept& token, Time now);

  // Agents. A connection is a number that is never used again.
  void reported(std::int64_t connection, const Report& report, Time now);
  void disconnected(std::int64_t connection);

  // Asks the node a job runs on, or last ran on, for a piece of its output. It comes back by
  // take_logs(), unless the node is lost; `request` is a number that is never used again. Answers
  // the node that is asked.
  Result<NodeId> ask_for_log(const LogsRequest& wanted, std::int64_t request);
  void forget_log(std::int64_t request);
  std::vector<LogPiece> take_logs() { return std::exchange(logs_, {}); }

  // Does what is due: leases that have run out, a round.
  void tick(Time now);
  Time next_due() const;
  Time next_round() const;  // as far as is known; kNever: not before something happens

  // For replay: what came from outside, once more. Decisions are not given to it; they follow.
  Status replay(const Entry& entry, Time now);

  // What has come of it since this was last asked.
  std::vector<Record> take_records();
  struct Outgoing {
    std::int64_t connection = 0;
    Orders orders{};
  };
  std::vector<Outgoing> take_orders();

  // All of it but what is said by agents when they connect. Jobs that ended longer ago than `keep`
  // are left out. With a viewer: as far as it may see the state.
  std::string snapshot(Duration keep, const Viewer* viewer = nullptr) const;

  const Book& book() const { return unfolded().book_; }
  const State& state() const { return unfolded().scheduler_->state(); }
  double work_left(JobId job) const;
  // When a running job will be done, as far as can be told.
  Time expected_end(JobId job) const { return machines_->end(job); }
  std::int64_t rounds() const { return rounds_; }
  std::int64_t alive() const { return alive_; }  // processes that may be running
  const Contact& contact(NodeId node) const { return contacts_[index(node)]; }
  const ForeignAgents& foreign() const { return foreign_; }
  // In how long the first process of a lost node counts as ended; nothing: never.
  std::optional<Duration> fence_in(NodeId node) const;

 private:
  void write(const Event& event) override;
  void log(const Entry& entry);
  static void must(const Status& status);  // for entries that this code made itself
  void settle();
  Status make_policy_from(const ChosenPolicy& choice, PolicySetup& setup) const;
  void pass_time(Time now);
  void set_up();
  void take_over();
  void hold_round();
  Status redo(const Entry& entry, Time now);
  Status begin_term(const TermBegan& term);

  // An array is one entry until somebody looks: its jobs are put into the tables after its answer
  // has left, and it makes no difference to anybody when.
  void unfold();
  const Core& unfolded() const {
    if (folded_) const_cast<Core*>(this)->unfold();
    return *this;
  }

  void admit(std::size_t first);
  void hold_dependents_back();
  void hold_back_if_needed(JobId id);
  void gate();
  void wait_for_lost_nodes();
  void note(const Progressed& progress);
  void tell_dependents(JobId id);
  void end_job(JobId id, EventKind how, const Reason& reason = {});
  void pause_job(JobId id, const Reason& reason);
  double work_left_after(JobId id, const Reason& reason) const;

  bool can_be_asked(const LiveJob& job, std::int64_t epoch) const;
  void ask_to_stop(const Event& event);
  void look_at_stops();
  JobEnd end_of(const LaunchReport& report);
  static Assignment to_be_kept(const LiveJob& job, const LiveLaunch& launch);

  std::string refusal(const Report& report) const;
  void heed(NodeId node, const Report& report);
  void heed_progress(const LaunchReport& launch);
  void launch_ended(const LaunchName& name, const JobEnd& end);
  void rank_ended(JobId id, std::int64_t epoch, const JobEnd& end, bool wanted, NodeId node);
  void end_all_on(NodeId node, JobEnd::Kind how, const std::string& why);
  void clear(NodeId node);
  void turn(NodeId node, NodeState state, bool draining, const std::string& by);
  void wake_nodes_of(const LiveJob& job);
  void drop_unsent(JobId id);
  bool may_begin(const LiveJob& job) const;
  void take_stock(NodeId node, const Report& report);
  Assignment to_be_kept_if_there(const LiveJob& job, const LiveLaunch& launch) const;
  void look_at_leases();
  Orders orders_for(NodeId node);

  CoreOptions options_;
  Book book_;
  Time now_{};
  PolicySetup policy_;
  std::unique_ptr<Packer> packer_;
  std::unique_ptr<EstimatedMachines> machines_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<Record> records_;
  std::optional<Submitted> folded_;  // written down at now_, and not in the tables yet
  SubmissionRates rates_;
  std::vector<LogPiece> logs_;
  std::vector<Contact> contacts_;
  Fences fences_;
  ForeignAgents foreign_;
  Stops stops_;
  Rendezvous rendezvous_;
  std::map<std::int64_t, NodeId> connections_;
  std::map<std::int64_t, Orders> refusals_;
  Time leases_due_ = kNever;
  Time wake_ = kNever;
  Time last_round_{Duration(-1)};
  bool round_due_ = false;
  bool cluster_changed_ = false;
  bool redoes_ = false;
  std::vector<JobId> changed_;          // by events since settle()
  std::vector<bool> held_by_gate_;      // by job
  std::vector<bool> waits_for_others_;  // by job
  std::vector<bool> waits_for_node_;    // by job: a lost node may be running an earlier epoch
  bool priorities_ = false;             // some job has one
  bool gate_again_ = false;             // in a round of its own
  std::int64_t rounds_ = 0;
  std::int64_t alive_ = 0;
};

}  // namespace orrery
