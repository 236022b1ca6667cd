#include "cloud/discrete_events/event_provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

// The same on every machine, which std::hash is not.
std::uint64_t hash_of(std::uint64_t seed, std::string_view text) {
  std::uint64_t hash = 1469598103934665603ULL ^ (seed * 0x9e3779b97f4a7c15ULL);
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return hash;
}

bool is_same(const Offer& a, const Offer& b) {
  return a.zone == b.zone && a.gpu == b.gpu && a.gpus == b.gpus && a.offer_class == b.offer_class;
}

bool is_limited(const Offer& offer) { return offer.offer_class != OfferClass::OnDemand; }

Time later(Time from, Duration by) { return by >= kNever - from ? kNever : from + by; }

}  // namespace

EventProvider::EventProvider(CloudModel model, std::uint64_t seed)
    : model_(std::move(model)), seed_(seed), now_(model_.start) {
  for (const Offer& offer : model_.offers) {
    const bool is_known =
        std::ranges::any_of(zones_, [&](const Zone& zone) { return zone.name == offer.zone; });
    if (is_known) continue;
    zones_.push_back({.name = offer.zone, .shocks = Random(hash_of(seed, offer.zone))});
    const std::size_t place = zones_.size() - 1;
    queue_shock(place);
    next_capacity(place);
  }
}

Status EventProvider::check(const std::vector<ServerSpec>& specs, std::size_t min) const {
  if (min > specs.size()) {
    return invalid(fmt::format("at least {} servers of {} that are asked for", min, specs.size()));
  }
  for (const ServerSpec& spec : specs) {
    const bool is_offered = std::ranges::any_of(
        model_.offers, [&](const Offer& offer) { return is_same(offer, spec.offer); });
    if (!is_offered) {
      return invalid(fmt::format("{}: there is no such offer in {}", spec.name, spec.offer.zone));
    }
    const auto named = requests_.find(spec.name);
    if (named != requests_.end() && named->second != spec.request_id) {
      return Error{Code::AlreadyExists,
                   fmt::format("{}: there was a server of that name already", spec.name)};
    }
  }
  return {};
}

// Those that are there already, and as many new ones as fit.
std::vector<bool> EventProvider::acceptance(const std::vector<ServerSpec>& specs) {
  std::vector<bool> accepted;
  std::map<std::string, int> taken;
  for (const ServerSpec& spec : specs) {
    const bool is_known = requests_.contains(spec.name);
    bool fits = is_known ? by_name_.contains(spec.name) : !is_limited(spec.offer);
    if (!fits && !is_known) {
      Zone& zone = zone_of(spec.offer.zone);
      int& asked = taken[zone.name];
      fits = zone.capacity < 0 || live_in(zone) + asked < zone.capacity;
      asked += fits ? 1 : 0;
    }
    accepted.push_back(fits);
  }
  return accepted;
}

Result<std::vector<Server>> EventProvider::create_all(const std::vector<ServerSpec>& specs,
                                                      std::size_t min) {
  TRY(check(specs, min));
  const std::vector<bool> accepted = acceptance(specs);
  const auto count = static_cast<std::size_t>(std::ranges::count(accepted, true));
  for (const ServerSpec& spec : specs) requests_.emplace(spec.name, spec.request_id);
  if (count < min) {
    const auto refused =
        static_cast<std::size_t>(std::ranges::find(accepted, false) - accepted.begin());
    return Error{
        Code::ResourceExhausted,
        fmt::format("zone {} has no capacity for {}: {} of {} servers, {} are needed",
                    specs[refused].offer.zone, specs[refused].name, count, specs.size(), min)};
  }
  std::vector<Server> made;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!accepted[i]) continue;
    if (!by_name_.contains(specs[i].name)) create(specs[i]);
    made.push_back(servers_[by_name_.at(specs[i].name)]);
  }
  return made;
}

void EventProvider::create(const ServerSpec& spec) {
  const std::size_t place = servers_.size();
  by_name_.emplace(spec.name, place);
  Server server;
  server.spec = spec;
  servers_.push_back(std::move(server));
  if (is_limited(spec.offer)) zone_of(spec.offer.zone).servers.push_back(place);
  happen(place, ServerEvent::Kind::Requested, EndReason::None);
  Random random(hash_of(seed_, spec.name));
  queue(later(now_, model_.startup(spec, random)), Kind::Run, place);
  plan_end(place, random);
}

void EventProvider::plan_end(std::size_t place, Random& random) {
  const ServerSpec& spec = servers_[place].spec;
  const Offer& offer = spec.offer;
  const Time life_end = offer.life_max ? later(now_, *offer.life_max) : kNever;
  const Time revocation =
      offer.offer_class == OfferClass::Spot ? later(now_, model_.life(spec, random)) : kNever;
  const Time end = std::min(life_end, revocation);
  if (end == kNever) return;
  const Time notice = std::max(now_, end - offer.notice);
  if (model_.at_risk > Duration::zero() && end == revocation && notice - model_.at_risk >= now_) {
    queue(notice - model_.at_risk, Kind::AtRisk, place);
  }
  if (offer.notice > Duration::zero()) queue(notice, Kind::Notice, place);
  queue(end, revocation < life_end ? Kind::Revoke : Kind::LifeEnd, place);
}

void EventProvider::queue(Time at, Kind kind, std::size_t place) {
  if (at != kNever) queue_.push({.at = at, .order = order_++, .kind = kind, .place = place});
}

void EventProvider::advance(Time to) {
  while (!queue_.empty() && queue_.top().at <= to) {
    const Entry entry = queue_.top();
    queue_.pop();
    now_ = std::max(now_, entry.at);
    handle(entry);
  }
  now_ = std::max(now_, to);
}

void EventProvider::handle(const Entry& entry) {
  if (entry.kind == Kind::Shock) return shock(entry.place);
  if (entry.kind == Kind::Capacity) return next_capacity(entry.place);
  const Server& server = servers_[entry.place];
  if (has_ended(server)) return;
  switch (entry.kind) {
    case Kind::Run:
      servers_[entry.place].address = fmt::format("10.{}.{}.{}", entry.place >> 16 & 255,
                                                  entry.place >> 8 & 255, entry.place & 255);
      return happen(entry.place, ServerEvent::Kind::Running, EndReason::None);
    case Kind::AtRisk:
      if (is_up(server)) happen(entry.place, ServerEvent::Kind::AtRisk, EndReason::None);
      return;
    case Kind::Notice:
      if (server.state == ServerState::Running)
        give_notice(entry.place, now_ + server.spec.offer.notice);
      return;
    case Kind::Revoke:
      return happen(entry.place, ServerEvent::Kind::Revoked, EndReason::Revoked);
    case Kind::LifeEnd:
      return happen(entry.place, ServerEvent::Kind::Stopped, EndReason::LifeEnded);
    case Kind::Shock:
    case Kind::Capacity:
      return;
  }
}

void EventProvider::give_notice(std::size_t place, Time end) {
  ServerEvent event;
  event.sequence = static_cast<std::int64_t>(events_.size()) + 1;
  event.at = now_;
  event.kind = ServerEvent::Kind::Notice;
  event.server = servers_[place].spec.name;
  event.deadline = end;
  const Status applied = apply(servers_[place], event);
  INVARIANT(applied.ok(), "a server that runs can get a notice");
  events_.push_back(std::move(event));
}

bool EventProvider::revoke(std::string_view name) {
  const auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) return false;
  const std::size_t place = found->second;
  const Server& server = servers_[place];
  if (has_ended(server) || server.state == ServerState::Noticed) return false;
  const Time end = now_ + server.spec.offer.notice;
  if (server.state == ServerState::Running && end > now_) give_notice(place, end);
  queue(end, Kind::Revoke, place);
  return true;
}

void EventProvider::queue_shock(std::size_t zone) {
  if (!(model_.shocks.per_hour > 0) || !(model_.shocks.probability > 0)) return;
  const double gap_h = zones_[zone].shocks.exponential(1 / model_.shocks.per_hour);
  queue(later(now_, from_seconds(gap_h * 3600)), Kind::Shock, zone);
}

void EventProvider::shock(std::size_t zone) {
  static_cast<void>(live_in(zones_[zone]));
  const auto number = zones_[zone].shocks.bits();
  for (const std::size_t place : zones_[zone].servers) {
    const Server& server = servers_[place];
    if (server.spec.offer.offer_class != OfferClass::Spot) continue;
    // A draw of the server's own: whether others live does not change it.
    Random random(hash_of(number, server.spec.name));
    if (random.uniform() < model_.shocks.probability) revoke(server.spec.name);
  }
  queue_shock(zone);
}

void EventProvider::next_capacity(std::size_t place) {
  Zone& zone = zones_[place];
  const auto found = model_.capacities.find(zone.name);
  if (found == model_.capacities.end()) return;
  const std::vector<CapacityStep>& steps = found->second;
  while (zone.step < steps.size() && steps[zone.step].from <= now_) {
    zone.capacity = steps[zone.step++].servers;
  }
  keep_within_capacity(zone);
  if (zone.step < steps.size()) queue(steps[zone.step].from, Kind::Capacity, place);
}

void EventProvider::set_capacity(const std::string& zone, int servers) {
  zone_of(zone).capacity = servers;
  keep_within_capacity(zone_of(zone));
}

void EventProvider::keep_within_capacity(Zone& zone) {
  if (zone.capacity < 0) return;
  int surplus = live_in(zone) - zone.capacity;
  for (std::size_t i = zone.servers.size(); i > 0 && surplus > 0; --i, --surplus) {
    revoke(servers_[zone.servers[i - 1]].spec.name);
  }
}

void EventProvider::happen(std::size_t place, ServerEvent::Kind kind, EndReason reason,
                           std::string detail) {
  ServerEvent event;
  event.sequence = static_cast<std::int64_t>(events_.size()) + 1;
  event.at = now_;
  event.kind = kind;
  event.server = servers_[place].spec.name;
  event.reason = reason;
  event.detail = std::move(detail);
  const Status applied = apply(servers_[place], event);
  INVARIANT(applied.ok(), "the queue holds only events that can follow");
  events_.push_back(std::move(event));
}

EventProvider::Zone& EventProvider::zone_of(const std::string& name) {
  const auto found = std::ranges::find(zones_, name, &Zone::name);
  INVARIANT(found != zones_.end(), "offers were checked against the zones");
  return *found;
}

int EventProvider::live_in(Zone& zone) {
  std::erase_if(zone.servers, [&](std::size_t place) { return has_ended(servers_[place]); });
  return static_cast<int>(zone.servers.size());
}

Result<std::vector<Server>> EventProvider::list(std::string_view job) {
  std::vector<Server> found;
  for (const Server& server : servers_) {
    if (job.empty() || server.spec.job == job) found.push_back(server);
  }
  return found;
}

Status EventProvider::stop(std::string_view server, EndReason reason) {
  const auto found = by_name_.find(std::string(server));
  if (found == by_name_.end()) {
    return Error{Code::NotFound, fmt::format("there never was a server '{}'", server)};
  }
  if (has_ended(servers_[found->second])) return {};
  happen(found->second, ServerEvent::Kind::Stopped, reason, "asked for");
  return {};
}

Result<std::vector<ServerEvent>> EventProvider::events_after(std::int64_t sequence) {
  const auto first = std::clamp<std::int64_t>(sequence, 0, std::ssize(events_));
  return std::vector<ServerEvent>(events_.begin() + first, events_.end());
}

}  // namespace orrery
