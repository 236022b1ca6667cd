#include "cloud/gce/gce_provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/plain_text.h"

namespace orrery {

Result<std::unique_ptr<GceProvider>> GceProvider::make(GceOptions options,
                                                       std::vector<Offer> offers, GceClock& clock) {
  if (options.project.empty() && options.identity.key) {
    options.project = options.identity.key->project;
  }
  if (options.project.empty()) {
    return invalid("gce: the project is not known; name it, or give a key file that does");
  }
  std::unique_ptr<GceProvider> made(new GceProvider(std::move(options), std::move(offers), clock));
  TRY(made->connect());
  return made;
}

GceProvider::GceProvider(GceOptions options, std::vector<Offer> offers, GceClock& clock)
    : options_(std::move(options)),
      offers_(std::move(offers)),
      clock_(clock),
      random_(options_.seed) {}

Status GceProvider::connect() {
  const GceContext context{.clock = clock_, .random = random_, .backoff = options_.backoff};
  TRY_ASSIGN(auto host, transport_to(options_.api));
  TRY_ASSIGN(auto tokens, TokenSource::make(options_.identity, context));
  auto session = std::make_unique<GceSession>(std::move(host), std::move(tokens), context);
  api_ = std::make_unique<ComputeApi>(std::move(session), options_.project);
  removal_ = std::make_unique<Removal>(*api_);
  watch_ = std::make_unique<ServerWatch>(*api_, book_, *removal_, options_.machines.fleet);
  creation_ = std::make_unique<Creation>(*api_, options_.machines, options_.waits);
  return {};
}

Status GceProvider::take_over() {
  if (taken_over_) return {};
  std::set<std::string> zones;
  for (const Offer& offer : offers_) zones.insert(offer.zone);
  for (const std::string& zone : zones) TRY(watch_->look_at(zone, offers_));
  taken_over_ = true;
  return {};
}

std::vector<Server> GceProvider::in_order(const std::vector<ServerSpec>& specs) const {
  std::vector<Server> servers;
  for (const ServerSpec& spec : specs) {
    const Server* const server = book_.find(spec.name);
    if (server != nullptr && server->spec.request_id == spec.request_id) {
      servers.push_back(watch_->shown(*server));
    }
  }
  return servers;
}

Result<std::vector<ServerSpec>> GceProvider::not_made_yet(
    const std::vector<ServerSpec>& specs) const {
  std::vector<ServerSpec> missing;
  for (const ServerSpec& spec : specs) {
    if (const auto failed = failed_.find(spec.request_id); failed != failed_.end()) {
      return failed->second;
    }
    const Server* const known = book_.find(spec.name);
    if (known == nullptr) {
      missing.push_back(spec);
    } else if (known->spec.request_id != spec.request_id) {
      return Error{Code::AlreadyExists,
                   fmt::format("gce: {}: there is or was a server of this name; use names that "
                               "were never used",
                               spec.name)};
    }
  }
  return missing;
}

Result<std::vector<Server>> GceProvider::create_all(const std::vector<ServerSpec>& specs,
                                                    std::size_t min) {
  if (Status good = check_specs(specs, min); !good.ok()) return std::move(good).error().at("gce");
  if (specs.empty()) return std::vector<Server>();
  if (Status known = take_over(); !known.ok()) return std::move(known).error().at("gce");
  // A part of a call that is repeated may have been refused then, and stays so.
  std::vector<ServerSpec> wanted;
  for (const ServerSpec& spec : specs) {
    const bool refused = failed_.contains(spec.request_id);
    if (!refused || in_order(specs).empty()) wanted.push_back(spec);
  }
  TRY_ASSIGN(const auto missing, not_made_yet(wanted));
  if (missing.empty()) return in_order(specs);
  return make_missing(specs, missing, min);
}

Result<std::vector<Server>> GceProvider::make_missing(const std::vector<ServerSpec>& specs,
                                                      const std::vector<ServerSpec>& missing,
                                                      std::size_t min) {
  const std::size_t known = in_order(specs).size();
  const auto groups = bulk_groups(missing, min > known ? min - known : 0);
  std::vector<GroupOutcome> outcomes;
  std::size_t possible = specs.size();
  std::optional<Error> first;
  for (const BulkGroup& group : groups) {
    outcomes.push_back(creation_->make(group));
    const GroupOutcome& outcome = outcomes.back();
    if (outcome.error && !first) first = outcome.error;
    possible -= group.specs.size() - (outcome.settled ? outcome.made.size() : 0);
    if (possible < min) return fail(groups, outcomes, *first);
  }
  const Time now = clock_.now();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!outcomes[i].settled)
      removal_->condemn(groups[i].request_id, groups[i].specs[0].offer.zone, false);
    std::set<std::string> made;
    if (outcomes[i].settled) {
      for (const GceInstance& instance : outcomes[i].made) made.insert(instance.name);
    }
    for (const ServerSpec& spec : groups[i].specs) {
      if (made.contains(spec.name)) {
        book_.accept(spec, now);
      } else if (outcomes[i].error) {
        failed_.insert_or_assign(spec.request_id, *outcomes[i].error);
      }
    }
  }
  return in_order(specs);
}

Error GceProvider::fail(const std::vector<BulkGroup>& groups,
                        const std::vector<GroupOutcome>& outcomes, Error why) {
  bool heard = false;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].perhaps_heard && outcomes[i].made.empty()) continue;
    heard = true;
    removal_->condemn(groups[i].request_id, groups[i].specs.front().offer.zone,
                      outcomes[i].settled);
  }
  Error answer = std::move(why).at("gce");
  if (!heard) return answer;
  if (!removal_->finish(options_.waits.removal)) {
    answer.message +=
        "; the removal of what was made is not confirmed, later calls continue with it";
  }
  // What was removed cannot be had again under the same identity.
  for (const BulkGroup& group : groups) {
    for (const ServerSpec& spec : group.specs) failed_.insert_or_assign(spec.request_id, answer);
  }
  return answer;
}

Result<std::vector<Server>> GceProvider::list(std::string_view job) {
  if (Status seen = take_over(); !seen.ok()) return std::move(seen).error().at("gce");
  if (Status seen = watch_->look(); !seen.ok()) return std::move(seen).error().at("gce");
  std::vector<Server> servers = book_.servers(job);
  for (Server& server : servers) server = watch_->shown(std::move(server));
  return servers;
}

Status GceProvider::stop(std::string_view server, EndReason reason) {
  if (Status known = take_over(); !known.ok()) return std::move(known).error().at("gce");
  const Server* const found = book_.find(server);
  if (found == nullptr) {
    return Error{Code::NotFound,
                 fmt::format("gce: there never was a server '{}'", plain_text(server))};
  }
  if (has_ended(*found)) return {};
  Status asked = watch_->ask_end(*found, reason);
  if (!asked.ok()) return std::move(asked).error().at("gce: " + found->spec.name);
  return {};
}

Result<std::vector<ServerEvent>> GceProvider::events_after(std::int64_t sequence) {
  if (Status known = take_over(); !known.ok()) return std::move(known).error().at("gce");
  // A sweep that fails is repeated; it must not hide the events.
  (void)removal_->sweep();
  if (Status seen = watch_->look(); !seen.ok()) {
    auto events = book_.after(sequence);
    if (!events.empty()) return events;
    return std::move(seen).error().at("gce");
  }
  return book_.after(sequence);
}

Status GceProvider::rehearse_preemption(std::string_view server) {
  const Server* const found = book_.find(server);
  if (found == nullptr || !is_up(*found) || found->spec.offer.offer_class != OfferClass::Spot) {
    return Error{Code::FailedPrecondition,
                 fmt::format("gce: '{}' is no running spot server", plain_text(server))};
  }
  Status asked =
      api_->rehearse_preemption(found->spec.offer.zone, found->spec.name,
                                uuid_from(fmt::format("rehearse {} {}", found->spec.name,
                                                      clock_.now().time_since_epoch().count())));
  if (!asked.ok()) return std::move(asked).error().at("gce: " + found->spec.name);
  return {};
}

}  // namespace orrery
