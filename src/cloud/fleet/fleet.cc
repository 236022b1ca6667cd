#include "cloud/fleet/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "cloud/fleet/answer_of.h"

namespace orrery {
namespace {

// The number behind "CLUSTER-"; nothing for another name.
std::optional<std::int64_t> index_of(std::string_view name, std::string_view cluster) {
  if (!name.starts_with(cluster) || name.size() <= cluster.size() + 1) return std::nullopt;
  if (name[cluster.size()] != '-') return std::nullopt;
  std::int64_t index = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + cluster.size() + 1, end, index);
  if (read.ec != std::errc() || read.ptr != end || index < 1) return std::nullopt;
  return index;
}

// A job with a deadline starts on a machine that is not revoked once half of its spare time has
// passed.
Time start_latest(const JobStatus& job, double now_s, Time now) {
  if (!job.deadline_s) return kNever;
  const double spare_s = *job.deadline_s - job.submitted_s - job.time_limit_s.value_or(0);
  return now + from_seconds(job.submitted_s + spare_s / 2 - now_s);
}

}  // namespace

Result<Fleet> Fleet::open(Api& api, Provider& provider, FleetOptions options) {
  Fleet fleet(api, provider, std::move(options));
  fleet.last_index_ = fleet.options_.last_index;
  // Events first: those that come between the two calls are refused later as known.
  TRY_ASSIGN(const std::vector<ServerEvent> past, provider.events_after(0));
  if (!past.empty()) fleet.sequence_ = past.back().sequence;
  TRY(fleet.adopt_unknown());
  return fleet;
}

Status Fleet::pass() {
  TRY(take_events());
  TRY(look_at_nodes());
  drain_leaving();
  report_ended();
  stop_late_joiners();
  continue_stops();
  TRY_ASSIGN(const AutoscalingView seen, view());
  return act(plan_servers(seen, options_.rules));
}

void Fleet::stop_all(EndReason reason) {
  for (const auto& [name, member] : members_) {
    if (has_ended(member.server)) continue;
    if (const Status stopped = provider_->stop(name, reason); !stopped.ok()) {
      say(fmt::format("{} could not be stopped: {}", name, stopped.error().message));
    }
  }
}

double Fleet::cost_usd() const {
  double sum = options_.spent_before_usd;
  for (const auto& [name, member] : members_) {
    sum += orrery::cost_usd(member.server, provider_->now());
  }
  return sum;
}

Status Fleet::take_events() {
  TRY_ASSIGN(const std::vector<ServerEvent> events, provider_->events_after(sequence_));
  const bool strange = std::ranges::any_of(
      events, [&](const ServerEvent& event) { return !members_.contains(event.server); });
  if (strange) TRY(adopt_unknown());
  for (const ServerEvent& event : events) {
    sequence_ = event.sequence;
    take_event(event);
  }
  return {};
}

// A request whose answer was lost may have made servers all the same.
Status Fleet::adopt_unknown() {
  TRY_ASSIGN(std::vector<Server> known, provider_->list(options_.cluster));
  for (Server& server : known) {
    const std::string name = server.spec.name;
    if (members_.contains(name)) continue;
    last_index_ = std::max(last_index_, index_of(name, options_.cluster).value_or(0));
    say(fmt::format("{} was found at the provider and is taken over", name));
    FleetMember& member = members_[name];
    member.server = std::move(server);
    member.leaves = member.server.state == ServerState::Noticed;
  }
  return {};
}

void Fleet::take_event(const ServerEvent& event) {
  const auto found = members_.find(event.server);
  if (found == members_.end()) return;
  FleetMember& member = found->second;
  if (options_.on_event) options_.on_event(member.server, event);
  // The answer to create_all() or list() may have said it already.
  if (!apply(member.server, event).ok()) return;
  if (event.kind == ServerEvent::Kind::Notice) {
    say(fmt::format("{} will be revoked: its jobs save and move", event.server));
    member.leaves = true;
  }
  if (event.kind == ServerEvent::Kind::Revoked) say(event.server + " was revoked");
  if (event.kind != ServerEvent::Kind::Failed) return;
  say(fmt::format("{} failed: {} {}", event.server, text_of(event.reason), event.detail));
  if (event.reason == EndReason::StockOut || event.reason == EndReason::Quota) {
    stock_outs_[offer_key(member.server.spec.offer)] = provider_->now();
  }
}

Status Fleet::look_at_nodes() {
  TRY_ASSIGN(const NodesAnswer nodes, answer_of<NodesAnswer>([&](auto reply) {
               api_->nodes(options_.caller, {}, std::move(reply));
             }));
  for (const NodeStatus& node : nodes.nodes) {
    const auto index = index_of(node.name, options_.cluster);
    last_index_ = std::max(last_index_, index.value_or(0));
    const auto found = members_.find(node.name);
    if (found != members_.end()) update(found->second, node, provider_->now());
  }
  return {};
}

// The scheduler refuses as long as the node's last report is recent; the next pass tries again.
void Fleet::report_ended() {
  for (auto& [name, member] : members_) {
    if (!has_ended(member.server) || member.reported) continue;
    if (member.joined) {
      const Status lost = drain(name, true);
      if (!lost.ok() && lost.error().code != Code::NotFound) continue;
      const auto removed = answer_of<Nothing>([&](auto reply) {
        api_->remove_node(options_.caller, {.node = name}, std::move(reply));
      });
      if (!removed.ok() && removed.error().code != Code::NotFound) continue;
    }
    member.reported = true;
  }
}

void Fleet::stop_late_joiners() {
  const Time now = provider_->now();
  for (auto& [name, member] : members_) {
    if (member.joined || !is_up(member.server)) continue;
    if (now < member.server.running + options_.join_max) continue;
    say(fmt::format("{} runs and did not join the cluster; it is stopped", name));
    const Status stopped = provider_->stop(name, EndReason::LaunchError);
    if (!stopped.ok()) say(name + ": " + stopped.error().message);
  }
}

void Fleet::continue_stops() {
  const Time now = provider_->now();
  for (auto& [name, member] : members_) {
    if (member.leave_by == kNever || has_ended(member.server)) continue;
    if (member.server.state == ServerState::Stopping) continue;
    if (member.joined && !member.jobs.empty() && now < member.leave_by) continue;
    const Status stopped = provider_->stop(name, EndReason::ClusterStop);
    if (stopped.ok()) {
      member.leave_by = kNever;
    } else {
      say(fmt::format("{} could not be stopped: {}", name, stopped.error().message));
    }
  }
}

Result<AutoscalingView> Fleet::view() {
  AutoscalingView view{.now = provider_->now(),
                       .ended_cost_usd = options_.spent_before_usd,
                       .stock_outs = stock_outs_};
  TRY_ASSIGN(view.offers, provider_->offers());
  for (const auto& [name, member] : members_) {
    if (has_ended(member.server)) {
      view.ended_cost_usd += orrery::cost_usd(member.server, view.now);
    } else {
      view.held.push_back(held_server(member, view.now));
    }
  }
  TRY_ASSIGN(const StatusAnswer status, answer_of<StatusAnswer>([&](auto reply) {
               api_->status(options_.caller, {.finished = false}, std::move(reply));
             }));
  for (const JobStatus& job : status.jobs) {
    if (!job.waits_for_devices) continue;
    view.waiting.push_back({.gpus = std::max(job.gpus, 1),
                            .gpu_type = job.gpu_type,
                            .start_latest = start_latest(job, status.now_s, view.now)});
  }
  return view;
}

Status Fleet::act(const AutoscalingPlan& plan) {
  if (plan.shortage != shortage_) {
    shortage_ = plan.shortage;
    if (!shortage_.empty()) say("waiting jobs get no server: " + shortage_);
  }
  for (const auto& stop : plan.stop) leave(members_.at(stop.server), stop.reason);
  for (const auto& creation : plan.create) TRY(create(creation));
  return {};
}

Status Fleet::create(const AutoscalingPlan::Creation& creation) {
  std::vector<ServerSpec> specs;
  for (int i = 0; i < creation.count; ++i) {
    const std::int64_t index = ++last_index_;
    ServerSpec spec{.name = fmt::format("{}-{}", options_.cluster, index),
                    .job = options_.cluster,
                    .role = "node",
                    .index = static_cast<int>(index),
                    .offer = creation.offer,
                    .request_id = options_.request_id()};
    TRY_ASSIGN(spec.startup, options_.startup(spec.name, spec.offer));
    if (options_.on_request) TRY(options_.on_request(spec));
    specs.push_back(std::move(spec));
  }
  auto created = provider_->create_all(specs, creation.together ? specs.size() : 1);
  if (!created.ok()) {
    stock_outs_[offer_key(creation.offer)] = provider_->now();
    say(fmt::format("{} gave no server: {}", offer_key(creation.offer), created.error().message));
    if (created.error().code == Code::ResourceExhausted) return {};
    return std::move(created).error();
  }
  for (Server& server : std::move(created).value()) {
    say(fmt::format("asked for {} ({}, {:.3g} USD an hour)", server.spec.name,
                    offer_key(server.spec.offer), server.spec.offer.price_usd_per_hour));
    const std::string name = server.spec.name;
    members_[name].server = std::move(server);
  }
  return {};
}

void Fleet::leave(FleetMember& member, const std::string& reason) {
  say(fmt::format("{} is stopped: {}", member.server.spec.name, reason));
  member.leave_by = provider_->now() + options_.rules.stop_time;
  member.leaves = true;
  drain_if_joined(member);
}

// A node may join after its server was noticed, and the scheduler may fail to answer.
void Fleet::drain_leaving() {
  for (auto& [name, member] : members_) {
    if (member.leaves && !has_ended(member.server)) drain_if_joined(member);
  }
}

void Fleet::drain_if_joined(FleetMember& member) {
  if (!member.joined || member.drained) return;
  member.drained = drain(member.server.spec.name, false).ok();
}

Status Fleet::drain(const std::string& node, bool lost) {
  const auto drained = answer_of<Nothing>([&](auto reply) {
    api_->drain(options_.caller, {.node = node, .now = !lost, .lost = lost}, std::move(reply));
  });
  if (drained.ok()) return {};
  return drained.error();
}

void Fleet::say(const std::string& line) const {
  if (options_.say) options_.say(line);
}

}  // namespace orrery
