#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/daemon/agents/launch_orders.h"
#include "live/daemon/agents/leases.h"
#include "live/daemon/core/core_parts.h"
#include "live/daemon/log/book.h"
#include "live/daemon/policy/dependencies.h"
#include "live/daemon/policy/held_jobs.h"
#include "live/daemon/policy/policy_host.h"
#include "live/daemon/rights/disclosure.h"

namespace orrery {

// Applies entries of the log that come from outside, and decides what follows from each: which jobs
// start, stop and end, and which launches are over. The same entries at the same times give the
// same decisions; that is how a log is replayed. Every entry and every decision becomes a record.
//
// Preconditions: begin() comes before apply_external() and rounds; an entry is valid by the rights
// and the state of its caller. For one thread.
class LiveScheduler final : private EventSink {
 public:
  explicit LiveScheduler(const CoreOptions& options);

  // Recovery: a snapshot if there is one, the log from there on, in order, then begin().
  Status restore(std::string_view snapshot);
  Status recover(const Record& record);
  // A new term. `unix_ns` is the time of day, for a log that begins here.
  Status begin(std::int64_t unix_ns, Time now);
  // An entry of a log from outside. The decisions of that log are not given to it.
  Status replay(const Entry& entry, Time now);

  void advance(Time now);
  Status apply_external(const Entry& entry, Time now);
  // The same for an array of jobs that waits for no others. Its jobs are in no table until
  // complete_submission() or advance(), so that its answer need not wait for them.
  void accept(Submitted entry, Time now);
  void complete_submission();
  // No process of the launch can be running any more. Nothing happens if the book has no such
  // launch.
  void end_launch(const LaunchName& name, const JobEnd& end);
  void hold_round();
  Time next_round() const { return host_.next_round(options_.round_gap, now_); }

  std::vector<Record> take_records();
  std::string snapshot(Duration keep, const Viewer* viewer) const;

  // Precondition: no accepted array is incomplete.
  const Book& book() const;
  const PolicyHost& host() const;
  const State& state() const { return host().state(); }
  Leases& leases() { return leases_; }
  const Leases& leases() const { return leases_; }
  LaunchOrders& orders() { return orders_; }
  const LaunchOrders& orders() const { return orders_; }
  const CoreOptions& options() const { return options_; }
  Time now() const { return now_; }
  std::int64_t rounds() const { return host_.rounds(); }
  std::int64_t alive() const { return alive_; }  // processes that may be running

 private:
  void write(const Event& event) override;
  void log(const Entry& entry);
  Status begin_term(const TermBegan& term);
  void admit(std::size_t first);
  void end_job(JobId job, EventKind how, const Reason& reason = {});
  void rank_failed(JobId job, const JobEnd& end, NodeId node);
  void move_jobs_from(NodeId node);
  void drop_unsent_launches(JobId job);
  void note_progress(const Progressed& progress);

  const CoreOptions& options_;
  Book book_;
  Time now_{};
  PolicyHost host_;
  Dependencies dependencies_;
  HeldJobs held_;
  Leases leases_;
  LaunchOrders orders_;
  std::vector<Record> records_;
  std::optional<Submitted> incomplete_;  // recorded at now_, and not in the tables yet
  std::vector<JobId> changed_;           // by events since take_records()
  bool is_replay_ = false;
  std::int64_t alive_ = 0;
};

}  // namespace orrery
