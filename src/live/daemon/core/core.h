#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "live/daemon/agents/agents.h"
#include "live/daemon/core/live_scheduler.h"
#include "live/daemon/rights/admission.h"

namespace orrery {

// The scheduler without clock, disk and network. Calls bring in what happens outside, with the
// time; records and orders are taken from it. The same calls give the same records and orders. No
// job runs twice at once.
//
// This class checks the requests of clients and hands them on: LiveScheduler decides, Agents speaks
// with the nodes.
//
// Records must be on disk before orders or answers that were taken with or after them leave the
// process. For one thread at a time.
class Core {
 public:
  explicit Core(CoreOptions options);

  // Recovery: a snapshot if there is one, the log from there on, in order, then begin().
  Status restore(std::string_view snapshot) { return scheduler_.restore(snapshot); }
  Status recover(const Record& record) { return scheduler_.recover(record); }
  // A new term. `unix_ns` is the time of day, for a log that begins here.
  Status begin(std::int64_t unix_ns, Time now) { return scheduler_.begin(unix_ns, now); }
  // An entry of a log from outside. The decisions of that log are not given to it; they follow.
  Status replay(const Entry& entry, Time now) { return scheduler_.replay(entry, now); }

  // Clients. `caller` is authenticated, and may make this call.
  Result<SubmitAnswer> submit(const Caller& caller, SubmitRequest request, Time now);
  // The same, but the jobs of an array may be in no table until complete_submission() or the next
  // tick(), so that the answer need not wait for them. Until then book(), state() and what is
  // computed from them must not be used.
  Result<SubmitAnswer> accept(const Caller& caller, SubmitRequest request, Time now);
  void complete_submission() { scheduler_.complete_submission(); }
  Result<CancelAnswer> cancel(const Caller& caller, const CancelRequest& request, Time now);
  Status drain(const Caller& caller, const DrainRequest& request, Time now);
  Status set_policy(const Caller& caller, const PolicyRequest& request, Time now);
  Status set_quota(const Caller& caller, const QuotaRequest& request, Time now);
  Status remove_node(const Caller& caller, const RemoveNodeRequest& request, Time now);
  // The entry is one that book().entitlements().changed() gave.
  void set_rights(const Entry& entry, Time now);
  void keep_token(const TokenKept& token, Time now);

  // Agents (see Agents). A connection is a number that is never used again.
  void reported(std::int64_t connection, const Report& report, Time now);
  void disconnected(std::int64_t connection) { agents_.disconnected(connection); }
  Result<NodeId> ask_for_log(const LogsRequest& wanted, std::int64_t request);
  void forget_log(std::int64_t request) { agents_.forget_log(request); }
  std::vector<LogPiece> take_logs() { return agents_.take_logs(); }

  // Does what is due: leases that have run out, stop agreements, a round.
  void tick(Time now);
  Time next_due() const;
  // kNever: not before something happens.
  Time next_round() const { return scheduler_.next_round(); }

  // What has come of all calls since this was last taken.
  std::vector<Record> take_records() { return scheduler_.take_records(); }
  using Outgoing = Agents::Outgoing;
  std::vector<Outgoing> take_orders() { return agents_.take_orders(); }

  // Everything except what agents report when they connect. Jobs that ended longer ago than `keep`
  // are left out. With a viewer: as far as it may see the state.
  std::string snapshot(Duration keep, const Viewer* viewer = nullptr) const {
    return scheduler_.snapshot(keep, viewer);
  }
  const Book& book() const { return scheduler_.book(); }
  const State& state() const { return scheduler_.state(); }
  const PolicyHost& host() const { return scheduler_.host(); }
  Time now() const { return scheduler_.now(); }  // of the last call that brought a time
  std::int64_t rounds() const { return scheduler_.rounds(); }
  std::int64_t alive() const { return scheduler_.alive(); }  // processes that may be running
  const Contact& contact(NodeId node) const { return scheduler_.leases().contact(node); }
  const ForeignAgents& foreign() const { return agents_.foreign(); }
  // Until the first process of a lost node counts as ended; nothing: it never does.
  std::optional<Duration> fence_in(NodeId node) const;

 private:
  CoreOptions options_;
  LiveScheduler scheduler_;
  Agents agents_;
  SubmissionRates rates_;
};

}  // namespace orrery
