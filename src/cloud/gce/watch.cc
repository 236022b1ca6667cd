#include "cloud/gce/watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "cloud/gce/requests.h"

namespace orrery {
namespace {

constexpr Duration kNotice = std::chrono::seconds(30);

// What ends instances without a call of ours. The service writes an operation for each.
constexpr std::string_view kPreempted = "compute.instances.preempted";
constexpr std::string_view kSelfEnded = "compute.instances.guestTerminate";
constexpr std::string_view kHostError = "compute.instances.hostError";
constexpr std::string_view kHostMaintenance = "compute.instances.terminateOnHostMaintenance";
constexpr std::string_view kLifeStop = "compute.instances.deferredStop";
constexpr std::string_view kLifeDelete = "compute.instances.deferredDelete";

std::string any_end() {
  std::string filter;
  for (const std::string_view type :
       {kPreempted, kSelfEnded, kHostError, kHostMaintenance, kLifeStop, kLifeDelete}) {
    if (!filter.empty()) filter += " OR ";
    filter += fmt::format("(operationType = \"{}\")", type);
  }
  return filter;
}

Time earlier(Time a, Time b) { return std::min(a, b); }

}  // namespace

Server ServerWatch::shown(Server server) const {
  const auto seen = seen_.find(server.spec.name);
  if (seen == seen_.end() || has_ended(server)) return server;
  if (server.address.empty() && is_up(server)) server.address = seen->second.address;
  ServerState state = ServerState::Requested;
  switch (seen->second.status) {
    case GceStatus::Provisioning:
      state = ServerState::Provisioning;
      break;
    case GceStatus::Staging:
      state = ServerState::Staging;
      break;
    case GceStatus::Stopping:
      state = ServerState::Stopping;
      break;
    default:
      break;
  }
  // A server with its notice still works while it is stopping.
  if (server.state != ServerState::Noticed) server.state = std::max(server.state, state);
  return server;
}

Status ServerWatch::look() {
  std::map<std::string, bool> zones;
  for (const Server& server : book_.servers("")) {
    if (!has_ended(server)) zones[server.spec.offer.zone] = true;
  }
  for (const auto& [name, zone] : leftovers_) zones[zone] = true;
  for (const auto& [zone, needed] : zones) TRY(look_at(zone, {}));
  return {};
}

Status ServerWatch::look_at(const std::string& zone, const std::vector<Offer>& offers) {
  operations_.erase(zone);
  TRY_ASSIGN(const auto listed,
             api_.instances(zone, fmt::format("labels.{} = \"{}\"", kFleetLabel, fleet_)));
  std::set<std::string> names;
  for (const GceInstance& instance : listed) {
    const auto label = [&](std::string_view key) {
      const auto found = instance.labels.find(std::string(key));
      return found == instance.labels.end() ? std::string() : found->second;
    };
    if (label(kFleetLabel) != fleet_ || removal_.is_condemned(label(kRequestLabel))) continue;
    const bool stopping = instance.status == GceStatus::Stopping;
    if (book_.find(instance.name) == nullptr && !stopping &&
        instance.status != GceStatus::Stopped) {
      if (const auto spec = spec_of(instance, offers)) {
        book_.accept(*spec, earlier(instance.created, api_.clock().now()));
      }
    }
    const Server* const server = book_.find(instance.name);
    if (server == nullptr) continue;
    names.insert(instance.name);
    TRY(update(*server, instance));
  }
  for (const Server& server : book_.servers("")) {
    if (server.spec.offer.zone != zone || names.contains(server.spec.name)) continue;
    leftovers_.erase(server.spec.name);
    if (!has_ended(server)) TRY(update_missing(server));
  }
  return {};
}

Status ServerWatch::update(const Server& server, const GceInstance& instance) {
  const std::string name = server.spec.name;
  const std::string& zone = server.spec.offer.zone;
  const Time now = api_.clock().now();
  seen_[name] = instance;
  const bool going = instance.status == GceStatus::Stopping;
  const bool gone = instance.status == GceStatus::Stopped;
  if (has_ended(server)) {
    leftovers_[name] = zone;
    return going ? Status() : remove(zone, name);
  }
  const bool has_run = going || gone || instance.status == GceStatus::Running;
  if (has_run && server.running == kNever && instance.started != kNever) {
    book_.see_running(name, earlier(instance.started, now), instance.address);
  }
  if (going || gone) {
    TRY(fetch_evidence(zone));
    const GceOperation* const preempted = evidence_of(server).preempted;
    if (going && preempted != nullptr && server.running != kNever) {
      const Duration notice =
          server.spec.offer.notice > Duration() ? server.spec.offer.notice : kNotice;
      const Time at = earlier(preempted->begun, now);
      book_.see_notice(name, at, at + notice, preempted->type);
    }
  }
  if (gone) {
    write_end(server);
    leftovers_[name] = zone;
    return remove(zone, name);
  }
  if (!going && stop_requests_.contains(name)) return remove(zone, name);
  return {};
}

Status ServerWatch::update_missing(const Server& server) {
  const auto alone = api_.instance(server.spec.offer.zone, server.spec.name);
  if (alone.ok()) return update(*book_.find(server.spec.name), alone.value());
  if (alone.error().code != Code::NotFound) return alone.error();
  TRY(fetch_evidence(server.spec.offer.zone));
  write_end(server);
  return {};
}

Status ServerWatch::fetch_evidence(const std::string& zone) {
  if (operations_.contains(zone)) return {};
  TRY_ASSIGN(operations_[zone], api_.operations(zone, any_end()));
  return {};
}

ServerWatch::Evidence ServerWatch::evidence_of(const Server& server) const {
  Evidence evidence;
  const auto of_zone = operations_.find(server.spec.offer.zone);
  if (of_zone == operations_.end()) return evidence;
  const auto seen = seen_.find(server.spec.name);
  for (const GceOperation& operation : of_zone->second) {
    if (operation.target != server.spec.name) continue;
    // The name may have been another's long ago.
    const bool other_id = seen != seen_.end() && !seen->second.id.empty() &&
                          !operation.target_id.empty() && seen->second.id != operation.target_id;
    if (other_id) continue;
    const GceOperation*& place = operation.type == kPreempted ? evidence.preempted : evidence.other;
    if (place == nullptr || operation.begun < place->begun) place = &operation;
  }
  return evidence;
}

void ServerWatch::write_end(const Server& server) {
  using Kind = ServerEvent::Kind;
  const std::string name = server.spec.name;
  const Time now = api_.clock().now();
  const Evidence evidence = evidence_of(server);
  const auto request = stop_requests_.find(name);
  const auto came_first = [&](const GceOperation* operation) {
    return operation != nullptr &&
           (request == stop_requests_.end() || operation->begun <= request->second.at);
  };
  if (came_first(evidence.preempted)) {
    book_.see_end(name, Kind::Revoked, now, EndReason::Revoked, evidence.preempted->type);
  } else if (came_first(evidence.other)) {
    write_end_by_others(server, evidence.other, now);
  } else if (request != stop_requests_.end()) {
    book_.see_end(name, Kind::Stopped, now, request->second.reason, "");
  } else {
    write_end_by_others(server, nullptr, now);
  }
}

void ServerWatch::write_end_by_others(const Server& server, const GceOperation* operation,
                                      Time now) {
  using Kind = ServerEvent::Kind;
  const std::string name = server.spec.name;
  const std::string type = operation == nullptr ? "" : operation->type;
  const Offer& offer = server.spec.offer;
  const bool life_over =
      offer.life_max && server.running != kNever && now - server.running >= *offer.life_max;
  if (type == kSelfEnded) {
    book_.see_end(name, Kind::Stopped, now, EndReason::Completed, type);
  } else if (type == kHostError || type == kHostMaintenance) {
    book_.see_end(name, Kind::Failed, now, EndReason::HostError, type);
  } else if (type == kLifeStop || type == kLifeDelete || life_over) {
    book_.see_end(name, Kind::Stopped, now, EndReason::LifeEnded, type);
  } else if (offer.offer_class == OfferClass::Flex && server.running == kNever) {
    book_.see_end(name, Kind::Failed, now, EndReason::StockOut, "its wait in the queue ended");
  } else {
    // A person, or another program.
    book_.see_end(name, Kind::Stopped, now, EndReason::UserStop, "stopped by another");
  }
}

Status ServerWatch::remove(const std::string& zone, const std::string& name) {
  const Status removed =
      api_.remove(zone, name, uuid_from(fmt::format("end {} {} {}", fleet_, name, ++calls_)));
  if (!removed.ok() && removed.error().code == Code::NotFound) return {};
  return removed;
}

Status ServerWatch::ask_end(const Server& server, EndReason reason) {
  stop_requests_.try_emplace(server.spec.name,
                             StopRequest{.reason = reason, .at = api_.clock().now()});
  const auto seen = seen_.find(server.spec.name);
  const bool going = seen != seen_.end() && seen->second.status == GceStatus::Stopping;
  return going ? Status() : remove(server.spec.offer.zone, server.spec.name);
}

}  // namespace orrery
