#include "live/daemon/agents/launch_orders.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "live/daemon/agents/assignments.h"

namespace orrery {
namespace {

const char* reason_of(const Event& event) {
  if (event.kind == EventKind::Resized) return "resize";
  return event.reason.code == Reason::Code::Requested ? "drain" : "preempt";
}

// For a process that runs already, all that its agent needs. It names no program: an agent that
// does not know the launch cannot begin it.
Assignment kept_assignment(const LiveJob& job, const LiveLaunch& launch) {
  return {.name = launch.name,
          .ranks = launch.name.rank + 1,
          .gpus = launch.gpus,
          .grace = job.request->grace};
}

}  // namespace

LaunchOrders::LaunchOrders(Book& book, const PolicyHost& host, Leases& leases,
                           LaunchOrderOptions options)
    : book_(book),
      host_(host),
      leases_(leases),
      options_(std::move(options)),
      stops_(options_.patience) {}

void LaunchOrders::restart() {
  stops_.clear();
  rendezvous_.clear();
}

void LaunchOrders::decided(const Event& event, Time now) {
  ask_to_stop(event, now);
  mark_nodes_of(book_.job(event.job));
}

void LaunchOrders::port_reported(const LaunchReport& launch) {
  if (rendezvous_.heard(launch)) mark_nodes_of(book_.job(*book_.find(launch.name.job)));
}

void LaunchOrders::launch_ended(const LaunchName& name, NodeId node) {
  stops_.left(name);
  leases_.mark(node);
}

void LaunchOrders::job_changed(JobId id) {
  const LiveJob& job = book_.job(id);
  if (job.launches.empty()) rendezvous_.forget(job.number);
  if (may_begin(job)) mark_nodes_of(job);
}

// All of its processes run, on nodes that can be reached, and the first has reported its progress.
bool LaunchOrders::can_be_asked(const LiveJob& job, std::int64_t epoch) const {
  const auto run = std::ranges::find(job.runs, epoch, &EpochRun::epoch);
  if (run == job.runs.end()) return false;
  int running = 0;
  bool speaks = false;
  for (const LiveLaunch& launch : job.launches) {
    if (launch.name.epoch != epoch) continue;
    const Contact& contact = leases_.contact(launch.node);
    if (contact.connection == 0 || book_.node(launch.node).state != NodeState::Up) return false;
    const auto said = std::ranges::find(contact.launches, launch.name, &LaunchReport::name);
    if (said == contact.launches.end() || said->state != LaunchState::Running) return false;
    speaks = speaks || (launch.name.rank == 0 && said->iteration >= 0);
    ++running;
  }
  return speaks && running == run->ranks;
}

void LaunchOrders::ask_to_stop(const Event& event, Time now) {
  const LiveJob& job = book_.job(event.job);
  const bool goes_on = event.kind == EventKind::Moved || event.kind == EventKind::Resized;
  if (!goes_on && event.kind != EventKind::Paused) {
    if (!job.wanted) stops_.drop(job.number);
    return;
  }
  const std::int64_t epoch = goes_on ? job.epoch - 1 : job.epoch;
  if (!can_be_asked(job, epoch)) return;
  const auto run = std::ranges::find(job.runs, epoch, &EpochRun::epoch);
  StopOrder order{.launch = {.job = job.number, .epoch = epoch}, .reason = reason_of(event)};
  if (event.kind == EventKind::Resized) {
    order.ranks_next = job.ranks();
    for (const LiveLaunch& launch : job.launches) {
      if (launch.name.epoch == job.epoch) order.gpus_next += std::popcount(launch.gpus);
    }
  }
  stops_.begin(std::move(order), run->ranks, now);
}

void LaunchOrders::look_at_stops(Time now) {
  for (const JobNumber job : stops_.look(now)) mark_nodes_of(book_.job(*book_.find(job)));
}

// It is not looked up if it was asked to stop: an earlier scheduler or an earlier agent may have
// asked it.
JobEnd LaunchOrders::end_of(const LaunchReport& report) const {
  const LiveJob& job = book_.job(*book_.find(report.name.job));
  const auto launch = std::ranges::find(job.launches, report.name, &LiveLaunch::name);
  if (report.name.epoch <= book_.origin().epoch_floor &&
      report.end.kind == JobEnd::Kind::NotStarted) {
    return {.kind = JobEnd::Kind::SupervisorLost, .message = "its node knows nothing of it"};
  }
  if (!succeeded(report.end) || report.finished || job.iteration < 0) return report.end;
  if (launch == job.launches.end() || Book::wants(job, *launch)) return report.end;
  return {.kind = JobEnd::Kind::Stopped,
          .exit_code = 0,
          .message = "came to rest as it was asked",
          .ran_ns = report.end.ran_ns};
}

bool LaunchOrders::may_begin(const LiveJob& job) const {
  return job.wanted && !book_.origin().may_be_elsewhere(job.number) &&
         std::ranges::all_of(job.launches, [&](const LiveLaunch& launch) {
           return launch.name.epoch == job.epoch;
         });
}

void LaunchOrders::mark_nodes_of(const LiveJob& job) {
  for (const LiveLaunch& launch : job.launches) leases_.mark(launch.node);
}

Assignment LaunchOrders::assignment(const LiveJob& job, const LiveLaunch& launch) const {
  const Grant& held = host_.state().job(*book_.find(job.number)).held;
  Assignment given = assignment_of(book_, job, launch, held, rendezvous_);
  // From before the log was restored: it may have ended and been forgotten since. Without a program
  // it goes on where it runs, and is not started again.
  if (launch.name.epoch <= book_.origin().epoch_floor) {
    given.argv.clear();
  } else if (given.ranks > 1 && options_.gang_secret) {
    given.environment.emplace_back("ORRERY_GANG_SECRET",
                                   options_.gang_secret(given.name.job, given.name.epoch));
  }
  return given;
}

void LaunchOrders::order_wanted(const LiveJob& job, LiveLaunch& launch, const Contact& contact,
                                Orders& orders) {
  if (launch.name.epoch > book_.origin().epoch_floor) {
    if (!may_begin(job)) return;
    const bool is_there = std::ranges::find(contact.launches, launch.name, &LaunchReport::name) !=
                          contact.launches.end();
    if (!is_there && waits_for_port(job, launch, rendezvous_)) return;
    if (launch.named_in == 0) launch.named_in = orders.number;
  }
  orders.assignments.push_back(assignment(job, launch));
}

Orders LaunchOrders::orders_for(NodeId node) {
  Contact& contact = leases_.contact(node);
  Orders orders{.instance = book_.node(node).instance,
                .session = contact.connection,
                .term = book_.term(),
                .number = ++contact.orders,
                .report = contact.report,
                .lease = options_.lease,
                .log = book_.origin().id};
  for (const LaunchName& name : book_.node(node).launches) {
    LiveLaunch& launch = *book_.find(name);
    const LiveJob& job = book_.job(*book_.find(name.job));
    if (Book::wants(job, launch)) {
      order_wanted(job, launch, contact, orders);
    } else if (auto stop = stops_.order(name)) {
      orders.assignments.push_back(kept_assignment(job, launch));
      orders.stops.push_back(std::move(*stop));
    } else if (launch.dropped_in == 0) {
      launch.dropped_in = orders.number;
    }
  }
  for (const LaunchReport& launch : contact.launches) {
    if (launch.state == LaunchState::Ended && book_.find(launch.name) == nullptr) {
      orders.forget.push_back(launch.name);
    }
  }
  orders.logs = contact.logs;
  contact.dirty = false;
  return orders;
}

}  // namespace orrery
