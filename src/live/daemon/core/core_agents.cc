#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/invariant.h"
#include "base/plain_text.h"
#include "live/daemon/agents/assignments.h"
#include "live/daemon/core/core.h"

namespace orrery {
namespace {

NodeJoined joined_of(const LiveNode& node) {
  return {
      .offer = node.offer, .instance = node.instance, .machine = node.machine, .boot = node.boot};
}

}  // namespace

// ---- What agents say

std::string Core::refusal(const Report& report) const {
  if (report.version != kProtocolVersion) {
    return fmt::format(
        "the agent speaks version {} and the scheduler version {}; install the "
        "same release on both",
        report.version, kProtocolVersion);
  }
  const NodeOffer& offer = report.offer;
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
  const auto id = book_.find_node(offer.name);
  if (!id) return "";
  const LiveNode& node = book_.node(*id);
  if (node.past_boots.contains(report.boot)) {
    return fmt::format("the machine of {} has been started again since this agent was", offer.name);
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

void Core::reported(std::int64_t connection, const Report& report, Time now) {
  pass_time(now);
  const auto known = book_.find_node(report.offer.name);
  // Before anything it says of its machine counts: the agent of a later boot may be connected.
  if (known && contacts_[index(*known)].newest > connection) return;
  const OwnLog own{.id = book_.origin().id, .term = book_.term()};
  if (report.version == kProtocolVersion && foreign_.take(report, own, now_)) {
    refusals_[connection] = foreign_.answer(report, own, connection);
    return;
  }
  if (std::string refused = refusal(report); !refused.empty()) {
    refusals_[connection] = {
        .instance = report.instance, .report = report.number, .refused = std::move(refused)};
    return;
  }
  if (known && book_.node(*known).state == NodeState::Removed &&
      contacts_[index(*known)].connection == connection) {
    refusals_[connection] = {
        .instance = report.instance,
        .report = report.number,
        .refused = "an admin has removed this node; join again with a new token"};
    return;
  }
  const NodeJoined joined{.offer = report.offer,
                          .instance = report.instance,
                          .machine = report.machine,
                          .boot = report.boot};
  if (known && book_.node(*known).instance != report.instance) {
    end_all_on(*known, JobEnd::Kind::SupervisorLost, "its machine was restarted");
  }
  if (!known || joined_of(book_.node(*known)) != joined) must(redo(joined, now_));
  const NodeId node = *book_.find_node(report.offer.name);
  Contact& contact = contacts_[index(node)];
  if (contact.connection != connection) {
    connections_.erase(contact.connection);
    connections_[connection] = node;
    contact.connection = contact.newest = connection;
  }
  contact.seen = now_;
  contact.report = report.number;
  contact.launches = report.launches;
  contact.dirty = true;
  leases_due_ = std::min(leases_due_, now_ + options_.lease);
  const NodeState state =
      report.leaving && report.launches.empty() ? NodeState::Left : NodeState::Up;
  if (book_.node(node).state != state) turn(node, state, book_.node(node).draining, "");
  for (const LogPiece& piece : report.logs) {
    const auto asked = std::erase_if(
        contact.logs, [&](const LogRequest& log) { return log.request == piece.request; });
    if (asked > 0) logs_.push_back(piece);
  }
  take_stock(node, report);
  heed(node, report);
}

// What a node runs of before the log was restored, as it says once it has obeyed this term. What
// this log does not know of was decided after the copy: it counts as an earlier epoch of its job,
// so the job begins nowhere else before it has ended.
void Core::take_stock(NodeId node, const Report& report) {
  if (book_.origin().epoch_floor == 0 || report.term != book_.term()) return;
  std::set<LaunchName> known = book_.node(node).launches;
  for (const LaunchReport& launch : report.launches) {
    const LaunchName& name = launch.name;
    known.erase(name);
    if (launch.state == LaunchState::Ended || name.epoch > book_.origin().epoch_floor) continue;
    const auto id = book_.find(name.job);
    if (!id || is_final(state().job(*id).state) || book_.find(name) != nullptr) continue;
    must(redo(LaunchFound{.launch = name, .node = book_.node(node).offer.name}, now_));
  }
  for (const LaunchName& name : known) {
    if (name.epoch > book_.origin().epoch_floor) continue;
    launch_ended(name,
                 {.kind = JobEnd::Kind::SupervisorLost, .message = "its node knows nothing of it"});
  }
  if (!book_.node(node).unheard) return;
  must(redo(NodeTurned{.node = book_.node(node).offer.name,
                       .state = book_.node(node).state,
                       .draining = book_.node(node).draining,
                       .heard = true},
            now_));
}

Result<NodeId> Core::ask_for_log(const LogsRequest& wanted, std::int64_t request) {
  unfold();
  const auto id = book_.find(wanted.id);
  if (!id)
    return Error{Code::NotFound,
                 fmt::format("there is no job {}; `orrery status --all` lists them", wanted.id)};
  const LiveJob& job = book_.job(*id);
  if (job.ran_on.empty()) {
    return Error{Code::FailedPrecondition,
                 fmt::format("job {} has no output: it has not started{}", wanted.id,
                             is_final(state().job(*id).state) ? "" : " yet")};
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
  NodeId node = job.ran_on[static_cast<std::size_t>(wanted.rank)];
  const NodeId newest = node;
  LogsRequest asked = wanted;
  // A job that has moved: what it wrote on the node before comes first.
  if (const auto before = book_.find_node(wanted.node)) node = *before;
  if (node != newest && contacts_[index(node)].connection == 0) {
    node = newest;
    asked.offset = 0;
  }
  Contact& contact = contacts_[index(node)];
  if (contact.connection == 0) {
    return Error{Code::Unavailable, fmt::format("{}, where job {} ran, cannot be reached now",
                                                book_.node(node).offer.name, wanted.id)};
  }
  contact.logs.push_back(log_request(book_, job, asked, node, request));
  contact.dirty = true;
  return node;
}

void Core::forget_log(std::int64_t request) {
  for (Contact& contact : contacts_) {
    std::erase_if(contact.logs, [&](const LogRequest& log) { return log.request == request; });
  }
}

void Core::disconnected(std::int64_t connection) {
  refusals_.erase(connection);
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  contacts_[index(found->second)].connection = 0;
  connections_.erase(found);
}

Status Core::remove_node(const Caller& caller, const RemoveNodeRequest& request, Time now) {
  pass_time(now);
  const auto id = book_.find_node(request.node);
  if (!id || book_.node(*id).state == NodeState::Removed) {
    return Error{Code::NotFound,
                 fmt::format("there is no node '{}'; `orrery nodes` lists them", request.node)};
  }
  const auto on_nodes = scheduler_->state().on_nodes();
  const bool held = index(*id) < on_nodes.size() && !on_nodes[index(*id)].empty();
  if (held || !book_.node(*id).launches.empty()) {
    return Error{Code::FailedPrecondition,
                 fmt::format("{0} still has jobs: `orrery drain {0} --now`, or `--lost` if its "
                             "machine is off, and remove it when they have left",
                             request.node)};
  }
  turn(*id, NodeState::Removed, false, caller.name);
  return {};
}

void Core::turn(NodeId node, NodeState state, bool draining, const std::string& by) {
  must(redo(
      NodeTurned{
          .node = book_.node(node).offer.name, .state = state, .draining = draining, .by = by},
      now_));
}

// Takes a report for what it says: ends are for good; and a launch that is not in it, although the
// agent has seen orders that settle it, is not there and never will be.
void Core::heed(NodeId node, const Report& report) {
  std::set<LaunchName> there;
  for (const LaunchReport& launch : report.launches) {
    there.insert(launch.name);
    if (book_.find(launch.name) == nullptr) continue;
    if (rendezvous_.heard(launch)) wake_nodes_of(book_.job(*book_.find(launch.name.job)));
    heed_progress(launch);
    if (launch.state == LaunchState::Ended) {
      launch_ended(launch.name, end_of(launch));
    } else {
      stops_.heard(launch);
    }
  }
  look_at_stops();
  if (report.term != book_.term()) return;
  std::vector<LaunchName> missing;
  for (const LaunchName& name : book_.node(node).launches) {
    if (there.contains(name)) continue;
    const LiveLaunch& launch = *book_.find(name);
    const bool wanted = Book::wants(book_.job(*book_.find(name.job)), launch);
    const std::int64_t settled = wanted ? launch.named_in : launch.dropped_in;
    if (settled != 0 && report.orders >= settled) missing.push_back(name);
  }
  for (const LaunchName& name : missing) {
    launch_ended(name,
                 {.kind = JobEnd::Kind::SupervisorLost, .message = "its node knows nothing of it"});
  }
}

void Core::heed_progress(const LaunchReport& launch) {
  if (launch.name.rank != 0 || launch.iteration < 0) return;
  const auto id = book_.find(launch.name.job);
  if (!id) return;
  // Also where the next epoch is decided: it does not begin before this one is over.
  const LiveJob& job = book_.job(*id);
  const bool said = job.iteration == launch.iteration && job.checkpointed >= launch.checkpointed;
  const bool soon = launch.state != LaunchState::Ended && job.iteration >= 0 &&
                    now_ < job.progressed + options_.progress_gap &&
                    job.checkpointed >= launch.checkpointed;
  if (said || soon) return;
  must(redo(Progressed{.job = launch.name.job,
                       .iteration = launch.iteration,
                       .iterations = launch.iterations,
                       .checkpointed = launch.checkpointed},
            now_));
}

// ---- Leases

std::optional<Duration> Core::fence_in(NodeId node) const {
  const Time next = fences_.look(book_, node, contacts_[index(node)].seen, now_).next;
  if (next == kNever) return {};
  return next - now_;
}

void Core::look_at_leases() {
  leases_due_ = kNever;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const auto node = static_cast<NodeId>(i);
    if (book_.node(node).state == NodeState::Up) {
      const Time due = fences_.lost_at(contacts_[i].seen);
      if (due > now_) {
        leases_due_ = std::min(leases_due_, due);
        continue;
      }
      turn(node, NodeState::Lost, book_.node(node).draining, "");
    }
    const Fences::Verdict verdict = fences_.look(book_, node, contacts_[i].seen, now_);
    leases_due_ = std::min(leases_due_, verdict.next);
    for (const LaunchName& name : verdict.over) {
      const LiveJob& job = book_.job(*book_.find(name.job));
      launch_ended(name, {.kind = JobEnd::Kind::LeaseLost,
                          .message = fmt::format("{} was lost", book_.node(node).offer.name),
                          .ran_ns = job.ran_by(name.epoch, contacts_[i].seen).count()});
    }
  }
}

// Nothing can be running there any more.
void Core::end_all_on(NodeId node, JobEnd::Kind how, const std::string& why) {
  const std::set<LaunchName> launches = book_.node(node).launches;
  for (const LaunchName& name : launches) {
    const LiveJob& job = book_.job(*book_.find(name.job));
    const Duration ran = job.ran_by(name.epoch, contacts_[index(node)].seen);
    launch_ended(name, {.kind = how, .message = why, .ran_ns = ran.count()});
  }
}

Status Core::drain(const Caller& caller, const DrainRequest& request, Time now) {
  pass_time(now);
  if (request.replace_log) {
    if (foreign_.replace(request.node)) return {};
    return Error{Code::FailedPrecondition,
                 fmt::format("{} obeys no other log; `orrery nodes` shows which nodes refuse",
                             request.node)};
  }
  const auto id = book_.find_node(request.node);
  if (!id) {
    return Error{Code::NotFound,
                 fmt::format("there is no node {}; `orrery nodes` lists them", request.node)};
  }
  if (request.lost && book_.node(*id).state == NodeState::Up) {
    return Error{Code::FailedPrecondition,
                 fmt::format("{0} answers, so it is not off; `orrery drain {0} --now` moves its "
                             "jobs away",
                             request.node)};
  }
  TRY(redo(NodeTurned{.node = request.node,
                      .state = book_.node(*id).state,
                      .draining = !request.resume,
                      .clears = request.now && !request.resume,
                      .gone = request.lost,
                      .by = caller.name},
           now_));
  if (request.lost) {
    end_all_on(*id, JobEnd::Kind::LeaseLost,
               fmt::format("{} is off, says {}", request.node, caller.name));
  }
  return {};
}

void Core::clear(NodeId node) {
  std::set<JobId> jobs;
  for (const LaunchName& name : book_.node(node).launches) {
    const JobId job = *book_.find(name.job);
    if (state().job(job).state == JobState::Running && book_.job(job).epoch == name.epoch) {
      jobs.insert(job);
    }
  }
  for (const JobId job : jobs) pause_job(job, {.code = Reason::Code::Requested});
}

// ---- What agents are told

// Only when nothing of its earlier runs can be alive.
bool Core::may_begin(const LiveJob& job) const {
  return job.wanted && !book_.origin().may_be_elsewhere(job.number) &&
         std::ranges::all_of(job.launches, [&](const LiveLaunch& launch) {
           return launch.name.epoch == job.epoch;
         });
}

void Core::wake_nodes_of(const LiveJob& job) {
  for (const LiveLaunch& launch : job.launches) contacts_[index(launch.node)].dirty = true;
}

// Of before the log was restored. It may have ended and been forgotten since, so it must not be
// started: it names no program.
Assignment Core::to_be_kept_if_there(const LiveJob& job, const LiveLaunch& launch) const {
  const Grant& held = state().job(*book_.find(job.number)).held;
  Assignment kept = assignment_of(book_, job, launch, held, rendezvous_);
  kept.argv.clear();
  return kept;
}

namespace {

void add_gang_secret(Assignment& given, const CoreOptions& options) {
  if (given.ranks < 2 || !options.gang_secret) return;
  given.environment.emplace_back("ORRERY_GANG_SECRET",
                                 options.gang_secret(given.name.job, given.name.epoch));
}

}  // namespace

Orders Core::orders_for(NodeId node) {
  Contact& contact = contacts_[index(node)];
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
      if (launch.name.epoch <= book_.origin().epoch_floor) {
        orders.assignments.push_back(to_be_kept_if_there(job, launch));
        continue;
      }
      if (!may_begin(job)) continue;
      const bool is_there =
          std::ranges::find(contact.launches, name, &LaunchReport::name) != contact.launches.end();
      if (!is_there && waits_for_port(job, launch, rendezvous_)) continue;
      if (launch.named_in == 0) launch.named_in = orders.number;
      orders.assignments.push_back(
          assignment_of(book_, job, launch, state().job(*book_.find(name.job)).held, rendezvous_));
      add_gang_secret(orders.assignments.back(), options_);
    } else if (auto stop = stops_.order(name)) {
      orders.assignments.push_back(to_be_kept(job, launch));
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

std::vector<Core::Outgoing> Core::take_orders() {
  std::vector<Outgoing> outgoing;
  for (auto& [connection, orders] : refusals_) {
    outgoing.push_back({.connection = connection, .orders = std::move(orders)});
  }
  refusals_.clear();
  for (const auto& [connection, node] : connections_) {
    if (contacts_[index(node)].dirty) {
      outgoing.push_back({.connection = connection, .orders = orders_for(node)});
    }
  }
  return outgoing;
}

}  // namespace orrery
