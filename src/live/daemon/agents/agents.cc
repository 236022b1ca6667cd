#include "live/daemon/agents/agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/invariant.h"
#include "base/plain_text.h"
#include "live/daemon/agents/assignments.h"
#include "live/store/mark.h"

namespace orrery {
namespace {

constexpr double kLossesPerDayMax = 86400;

NodeJoined joined_of(const LiveNode& node) {
  return {
      .offer = node.offer, .instance = node.instance, .machine = node.machine, .boot = node.boot};
}

std::string fault_of(const NodeOffer& offer) {
  if (offer.name.empty() || offer.name.size() > 256) return "a node needs a name";
  if (!is_plain_text(offer.name)) {
    return "a node's name may have no control character, nor one that is invisible or changes the "
           "direction of writing";
  }
  if (offer.gpus < 0 || offer.gpus > kGpusPerNodeMax || offer.cpu_milli < 0 ||
      offer.memory_bytes < 0) {
    return fmt::format("{} offers {} GPUs; a node has 0 to {}", offer.name, offer.gpus,
                       kGpusPerNodeMax);
  }
  if (!is_plain_text(offer.zone) || offer.zone.size() > 256) {
    return offer.name + ": its zone has more than 256 characters, or one that is not visible";
  }
  if (!is_plain_text(offer.fault) || offer.fault.size() > kNodeFaultMost) {
    return offer.name + ": its fault is too long, or has a character that is not visible";
  }
  if (!(offer.losses_per_day >= 0 && offer.losses_per_day <= kLossesPerDayMax)) {
    return fmt::format("{} expects to be lost {} times a day; from 0 to {} is possible", offer.name,
                       offer.losses_per_day, kLossesPerDayMax);
  }
  return "";
}

Error no_node(const std::string& name) {
  return {Code::NotFound, fmt::format("there is no node {}; `orrery nodes` lists them", name)};
}

}  // namespace

void Agents::apply(const Entry& entry) {
  const Status status = scheduler_.apply_external(entry, scheduler_.now());
  INVARIANT(status.ok(), "entries made here fit the book");
}

// ---- Reports

// Why the agent may not join; empty: it may.
std::string Agents::refusal(std::int64_t connection, const Report& report) const {
  if (report.version != kProtocolVersion) {
    return fmt::format(
        "the agent speaks version {} and the scheduler version {}; install the "
        "same release on both",
        report.version, kProtocolVersion);
  }
  const NodeOffer& offer = report.offer;
  if (std::string fault = fault_of(offer); !fault.empty()) return fault;
  const auto id = book().find_node(offer.name);
  if (!id) return "";
  const LiveNode& node = book().node(*id);
  if (node.past_boots.contains(report.boot)) {
    return fmt::format("the machine of {} has been started again since this agent was", offer.name);
  }
  const bool is_removed = node.state == NodeState::Removed;
  if (is_removed && scheduler_.leases().contact(*id).connection == connection) {
    return "an admin has removed this node; join again with a new token";
  }
  if (node.instance == report.instance) return "";
  // The same machine after a reboot, with the agent's state gone: what ran there is over.
  const bool rebooted =
      !node.machine.empty() && node.machine == report.machine && node.boot != report.boot;
  // Another machine with the name, or the same with its state gone: what the other runs, if it is
  // still there, must be over first.
  if (!rebooted && (node.state == NodeState::Up || !node.launches.empty())) {
    return fmt::format(
        "another agent is node {0}; give this one another --name. If the machine of the other "
        "agent is off, `orrery drain {0} --lost` and `orrery resume {0}` make way for this one",
        offer.name);
  }
  return "";
}

void Agents::reported(std::int64_t connection, const Report& report) {
  Leases& leases = scheduler_.leases();
  const auto known = book().find_node(report.offer.name);
  // Before anything it says of its machine counts: the agent of a later boot may be connected.
  if (known && leases.contact(*known).newest > connection) return;
  const OwnLog own{.id = book().origin().id, .term = book().term()};
  if (report.version == kProtocolVersion && foreign_.take(report, own, scheduler_.now())) {
    refusals_[connection] = foreign_.answer(report, own, connection);
    return;
  }
  if (std::string refused = refusal(connection, report); !refused.empty()) {
    refusals_[connection] = {
        .instance = report.instance, .report = report.number, .refused = std::move(refused)};
    return;
  }
  // From here on the log goes on as one that `orrery restore` has put back. Terms are at least the
  // seconds since 1970, and epochs of a job rise more slowly, so the floor is above all lost ones.
  if (has_seen_more(report)) {
    apply(LogNamed{.first = number_after_loss(book().next_number() - 1),
                   .epoch_floor = book().term(),
                   .restored = true,
                   .by = report.offer.name});
  }
  const NodeJoined joined{.offer = report.offer,
                          .instance = report.instance,
                          .machine = report.machine,
                          .boot = report.boot};
  if (known && book().node(*known).instance != report.instance) {
    end_all_on(*known, JobEnd::Kind::SupervisorLost, "its machine was restarted");
  }
  if (!known || joined_of(book().node(*known)) != joined) apply(joined);
  const NodeId node = *book().find_node(report.offer.name);
  leases.renew(node, connection, report, scheduler_.now());
  const NodeState state =
      report.leaving && report.launches.empty() ? NodeState::Left : NodeState::Up;
  if (book().node(node).state != state) set_state(node, state, "");
  for (const LogPiece& piece : report.logs) {
    const auto asked = std::erase_if(leases.contact(node).logs, [&](const LogRequest& log) {
      return log.request == piece.request;
    });
    if (asked > 0) logs_.push_back(piece);
  }
  take_stock(node, report);
  apply_report(node, report);
}

// True if the agent has obeyed records of this log that are not in it: an old copy of the log was
// put back by hand. Orders leave only once their records are on disk, so an agent cannot
// have seen more than the log otherwise.
bool Agents::has_seen_more(const Report& report) const {
  const LogOrigin& origin = book().origin();
  if (report.log != origin.id || origin.is_restored) return false;
  if (report.term > origin.term_before && report.term < book().term()) return true;
  return std::ranges::any_of(report.launches, [&](const LaunchReport& launch) {
    if (launch.name.epoch <= origin.epoch_floor) return false;
    if (launch.name.job >= book().next_number()) return true;
    const auto id = book().find(launch.name.job);
    return id && launch.name.epoch > book().job(*id).epoch;
  });
}

// What a node runs of before the log was restored, as it says once it has obeyed this term. What
// this log does not know of was decided after the copy: it counts as an earlier epoch of its job,
// so the job begins nowhere else before it has ended.
void Agents::take_stock(NodeId node, const Report& report) {
  if (book().origin().epoch_floor == 0 || report.term != book().term()) return;
  std::set<LaunchName> known = book().node(node).launches;
  for (const LaunchReport& launch : report.launches) {
    const LaunchName& name = launch.name;
    known.erase(name);
    if (launch.state == LaunchState::Ended || name.epoch > book().origin().epoch_floor) continue;
    const auto id = book().find(name.job);
    if (!id || is_final(scheduler_.state().job(*id).state) || book().find(name) != nullptr) {
      continue;
    }
    apply(LaunchFound{.launch = name, .node = book().node(node).offer.name});
  }
  for (const LaunchName& name : known) {
    if (name.epoch > book().origin().epoch_floor) continue;
    scheduler_.end_launch(
        name, {.kind = JobEnd::Kind::SupervisorLost, .message = "its node knows nothing of it"});
  }
  const LiveNode& live = book().node(node);
  if (!live.unheard) return;
  apply(NodeTurned{
      .node = live.offer.name, .state = live.state, .draining = live.draining, .heard = true});
}

// Ends are for good.
void Agents::apply_report(NodeId node, const Report& report) {
  LaunchOrders& orders = scheduler_.orders();
  for (const LaunchReport& launch : report.launches) {
    if (book().find(launch.name) == nullptr) continue;
    orders.port_reported(launch);
    apply_progress(launch);
    if (launch.state == LaunchState::Ended) {
      scheduler_.end_launch(launch.name, orders.end_of(launch));
    } else {
      orders.stop_answered(launch);
    }
  }
  orders.look_at_stops(scheduler_.now());
  if (report.term == book().term()) end_missing(node, report);
}

// A launch that is not in the report, although the agent has seen orders that settle it, does not
// run and never will.
void Agents::end_missing(NodeId node, const Report& report) {
  std::set<LaunchName> there;
  for (const LaunchReport& launch : report.launches) there.insert(launch.name);
  std::vector<LaunchName> missing;
  for (const LaunchName& name : book().node(node).launches) {
    if (there.contains(name)) continue;
    const LiveLaunch& launch = *book().find(name);
    const bool wanted = Book::wants(book().job(*book().find(name.job)), launch);
    const std::int64_t settled = wanted ? launch.named_in : launch.dropped_in;
    if (settled != 0 && report.orders >= settled) missing.push_back(name);
  }
  for (const LaunchName& name : missing) {
    scheduler_.end_launch(
        name, {.kind = JobEnd::Kind::SupervisorLost, .message = "its node knows nothing of it"});
  }
}

void Agents::apply_progress(const LaunchReport& launch) {
  if (launch.name.rank != 0 || launch.iteration < 0) return;
  const auto id = book().find(launch.name.job);
  if (!id) return;
  // Also where the next epoch is decided: it does not begin before this one is over.
  const LiveJob& job = book().job(*id);
  const bool said = job.iteration == launch.iteration && job.checkpointed >= launch.checkpointed;
  const bool soon = launch.state != LaunchState::Ended && job.iteration >= 0 &&
                    scheduler_.now() < job.progressed + scheduler_.options().progress_gap &&
                    job.checkpointed >= launch.checkpointed;
  if (said || soon) return;
  apply(Progressed{.job = launch.name.job,
                   .iteration = launch.iteration,
                   .iterations = launch.iterations,
                   .checkpointed = launch.checkpointed});
}

void Agents::disconnected(std::int64_t connection) {
  refusals_.erase(connection);
  scheduler_.leases().disconnected(connection);
}

// ---- Nodes

void Agents::set_state(NodeId node, NodeState state, const std::string& by) {
  const LiveNode& live = book().node(node);
  const bool draining = live.draining && state != NodeState::Removed;
  apply(NodeTurned{.node = live.offer.name, .state = state, .draining = draining, .by = by});
}

void Agents::look_at_leases() {
  scheduler_.leases().look(
      book(), scheduler_.now(), [this](NodeId node, const Leases::Verdict& verdict) {
        if (verdict.is_lost) set_state(node, NodeState::Lost, "");
        const Time seen = scheduler_.leases().contact(node).seen;
        for (const LaunchName& name : verdict.over) {
          const LiveJob& job = book().job(*book().find(name.job));
          scheduler_.end_launch(
              name, {.kind = JobEnd::Kind::LeaseLost,
                     .message = fmt::format("{} was lost", book().node(node).offer.name),
                     .ran_ns = job.ran_by(name.epoch, seen).count()});
        }
      });
}

// Nothing can be running there any more.
void Agents::end_all_on(NodeId node, JobEnd::Kind how, const std::string& why) {
  const std::set<LaunchName> launches = book().node(node).launches;
  for (const LaunchName& name : launches) {
    const LiveJob& job = book().job(*book().find(name.job));
    const Duration ran = job.ran_by(name.epoch, scheduler_.leases().contact(node).seen);
    scheduler_.end_launch(name, {.kind = how, .message = why, .ran_ns = ran.count()});
  }
}

Status Agents::drain(const Caller& caller, const DrainRequest& request) {
  if (request.replace_log) {
    if (foreign_.replace(request.node)) return {};
    return Error{Code::FailedPrecondition,
                 fmt::format("{} obeys no other log; `orrery nodes` shows which nodes refuse",
                             request.node)};
  }
  const auto id = book().find_node(request.node);
  if (!id) return no_node(request.node);
  const NodeState state = book().node(*id).state;
  if (request.lost && state == NodeState::Up) {
    return Error{Code::FailedPrecondition,
                 fmt::format("{0} answers, so it is not off; `orrery drain {0} --now` moves its "
                             "jobs away",
                             request.node)};
  }
  apply(NodeTurned{.node = request.node,
                   .state = state,
                   .draining = !request.resume,
                   .clears = request.now && !request.resume,
                   .gone = request.lost,
                   .by = caller.name});
  if (request.lost) {
    end_all_on(*id, JobEnd::Kind::LeaseLost,
               fmt::format("{} is off, says {}", request.node, caller.name));
  }
  return {};
}

Status Agents::remove_node(const Caller& caller, const RemoveNodeRequest& request) {
  const auto id = book().find_node(request.node);
  if (!id || book().node(*id).state == NodeState::Removed) return no_node(request.node);
  const auto on_nodes = scheduler_.state().on_nodes();
  const bool held = index(*id) < on_nodes.size() && !on_nodes[index(*id)].empty();
  if (held || !book().node(*id).launches.empty()) {
    return Error{Code::FailedPrecondition,
                 fmt::format("{0} still has jobs: `orrery drain {0} --now`, or `--lost` if its "
                             "machine is off, and remove it when they have left",
                             request.node)};
  }
  set_state(*id, NodeState::Removed, caller.name);
  return {};
}

// ---- Output of jobs

Result<NodeId> Agents::ask_for_log(const LogsRequest& wanted, std::int64_t request) {
  const auto id = book().find(wanted.id);
  if (!id)
    return Error{Code::NotFound,
                 fmt::format("there is no job {}; `orrery status --all` lists them", wanted.id)};
  const LiveJob& job = book().job(*id);
  if (job.ran_on.empty()) {
    return Error{Code::FailedPrecondition,
                 fmt::format("job {} has no output: it has not started{}", wanted.id,
                             is_final(scheduler_.state().job(*id).state) ? "" : " yet")};
  }
  if (wanted.rank < 0 || static_cast<std::size_t>(wanted.rank) >= job.ran_on.size()) {
    return Error{Code::NotFound,
                 fmt::format("job {} has ranks 0 to {}", wanted.id, job.ran_on.size() - 1)};
  }
  if (wanted.errors && job.request->errors.empty()) {
    return Error{Code::FailedPrecondition,
                 fmt::format("job {} writes standard error into its output; leave --stderr out, or "
                             "submit it with --error FILE",
                             wanted.id)};
  }
  Leases& leases = scheduler_.leases();
  NodeId node = job.ran_on[static_cast<std::size_t>(wanted.rank)];
  const NodeId newest = node;
  LogsRequest asked = wanted;
  // A job that has moved: what it wrote on the node before comes first.
  if (const auto before = book().find_node(wanted.node)) node = *before;
  if (node != newest && !leases.is_connected(node)) {
    node = newest;
    asked.offset = 0;
  }
  if (!leases.is_connected(node)) {
    return Error{Code::Unavailable, fmt::format("{}, where job {} ran, cannot be reached now",
                                                book().node(node).offer.name, wanted.id)};
  }
  leases.contact(node).logs.push_back(log_request(book(), job, asked, node, request));
  leases.mark(node);
  return node;
}

std::vector<Agents::Outgoing> Agents::take_orders() {
  std::vector<Outgoing> outgoing;
  for (auto& [connection, orders] : refusals_) {
    outgoing.push_back({.connection = connection, .orders = std::move(orders)});
  }
  refusals_.clear();
  for (const auto& [connection, node] : scheduler_.leases().connections()) {
    if (!scheduler_.leases().contact(node).dirty) continue;
    outgoing.push_back({.connection = connection, .orders = scheduler_.orders().orders_for(node)});
  }
  return outgoing;
}

}  // namespace orrery
