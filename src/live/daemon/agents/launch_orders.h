#pragma once

#include "live/daemon/agents/leases.h"
#include "live/daemon/agents/rendezvous.h"
#include "live/daemon/agents/stops.h"
#include "live/daemon/policy/policy_host.h"

namespace orrery {

struct LaunchOrderOptions {
  Duration lease{};
  StopPatience patience{};
  // Of the processes of a job with several ranks; the same at each call. Not set: none.
  std::function<std::string(JobNumber job, std::int64_t epoch)> gang_secret{};
};

// Decides what each agent is ordered: which launches run on its node, which are asked to stop, and
// which it may forget. A launch is ordered only if no process of an earlier epoch of its job can be
// running. Ports and stop agreements are in memory only.
//
// In the book it changes LiveLaunch::named_in and dropped_in: the orders that first named a launch,
// or first left it out.
class LaunchOrders {
 public:
  LaunchOrders(Book& book, const PolicyHost& host, Leases& leases, LaunchOrderOptions options);

  void restart();

  // A decision about a job, after the book has it. A job that speaks the job protocol is asked to
  // stop; the agents of all its launches get orders.
  void decided(const Event& event, Time now);
  // A launch of the book, as its agent reports it: its port, and its answer to a stop order.
  void port_reported(const LaunchReport& launch);
  void stop_answered(const LaunchReport& launch) { stops_.heard(launch); }
  // The book has just dropped a launch of the node.
  void launch_ended(const LaunchName& name, NodeId node);
  // After all that followed from the end of a launch: the next epoch of its job may begin.
  void job_changed(JobId job);

  // Sends what has become of stop agreements.
  void look_at_stops(Time now);
  Time stops_due() const { return stops_.next_due(); }

  // The end that counts: a process that came to rest because it was asked to has not completed its
  // job, unless it reports that it has.
  JobEnd end_of(const LaunchReport& report) const;

  // For a connected node. Answers its last report.
  Orders orders_for(NodeId node);

 private:
  bool can_be_asked(const LiveJob& job, std::int64_t epoch) const;
  void ask_to_stop(const Event& event, Time now);
  void mark_nodes_of(const LiveJob& job);
  bool may_begin(const LiveJob& job) const;
  Assignment assignment(const LiveJob& job, const LiveLaunch& launch) const;
  void order_wanted(const LiveJob& job, LiveLaunch& launch, const Contact& contact, Orders& orders);

  Book& book_;
  const PolicyHost& host_;
  Leases& leases_;
  LaunchOrderOptions options_;
  Stops stops_;
  Rendezvous rendezvous_;
};

}  // namespace orrery
