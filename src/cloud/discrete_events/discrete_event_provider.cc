#include "cloud/discrete_events/discrete_event_provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr Duration kForever = kNever.time_since_epoch();

Time later(Time from, Duration by) { return by >= kNever - from ? kNever : from + by; }

// The same on every machine, which std::hash is not (FNV-1a).
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

// The draws of one server or zone, for one purpose.
Random stream_of(std::uint64_t seed, std::string_view purpose, std::string_view name) {
  return Random((seed * 0x9e3779b97f4a7c15ULL) ^ hash_of(purpose) ^ (hash_of(name) << 1));
}

bool is_alive(const Server& server) {
  return !has_ended(server) && server.state != ServerState::Stopping;
}

}  // namespace

int ZoneTrace::at(Time now) const {
  if (available.empty()) return 0;
  const auto index = static_cast<std::size_t>(std::max<std::int64_t>((now - begin) / tick, 0));
  return available[std::min(index, available.size() - 1)];
}

Time ZoneTrace::next_change(Time now) const {
  const int value = at(now);
  auto index = static_cast<std::size_t>(std::max<std::int64_t>((now - begin) / tick, 0));
  while (++index < available.size()) {
    if (available[index] != value) return begin + tick * static_cast<std::int64_t>(index);
  }
  return kNever;
}

DiscreteEventProvider::DiscreteEventProvider(ServerWorld world, Time start)
    : world_(std::move(world)), random_(world_.seed), now_(start) {
  for (const auto& [zone, shocks] : world_.shocks) {
    if (shocks.per_hour <= 0) continue;
    shocks_.emplace(zone, stream_of(world_.seed, "shocks", zone));
    plan_shock(zone);
  }
  for (auto& [zone, trace] : world_.traces) {
    trace.begin = later(trace.begin, start.time_since_epoch());
    schedule({.at = trace.next_change(now_), .kind = Due::Kind::Tick, .zone = zone});
  }
  for (std::size_t i = 0; i < world_.revocations.size(); ++i) {
    schedule({.at = later(world_.revocations[i].at, start.time_since_epoch()),
              .kind = Due::Kind::Revocation,
              .server = i});
  }
}

void DiscreteEventProvider::advance(Time to) {
  INVARIANT(to >= now_, "a provider's clock does not go back");
  while (!queue_.empty() && queue_.top().at <= to) {
    const Due due = queue_.top();
    queue_.pop();
    now_ = std::max(now_, due.at);
    happen(due);
  }
  now_ = to;
}

Time DiscreteEventProvider::next_event() const { return queue_.empty() ? kNever : queue_.top().at; }

Status DiscreteEventProvider::revoke(std::string_view server) {
  const auto found = by_name_.find(server);
  if (found == by_name_.end()) return Error{Code::NotFound, fmt::format("no server '{}'", server)};
  notice(found->second, EndReason::Revoked);
  return {};
}

Status DiscreteEventProvider::fail(std::string_view server, EndReason reason, std::string detail) {
  const auto found = by_name_.find(server);
  if (found == by_name_.end()) return Error{Code::NotFound, fmt::format("no server '{}'", server)};
  if (!has_ended(servers_[found->second])) end(found->second, reason, std::move(detail));
  return {};
}

Status DiscreteEventProvider::check(const std::vector<ServerSpec>& specs, std::size_t min) const {
  if (min > specs.size()) {
    return invalid(
        fmt::format("at least {} servers are wanted, and {} are asked for", min, specs.size()));
  }
  for (const ServerSpec& spec : specs) {
    if (spec.name.empty() || spec.request_id.empty()) {
      return invalid("every server has a name and a request identity");
    }
    if (std::ranges::find(world_.offers, spec.offer.zone, &Offer::zone) == world_.offers.end()) {
      return invalid(fmt::format("{}: there is no zone '{}'", spec.name, spec.offer.zone));
    }
    const auto found = by_name_.find(spec.name);
    if (found == by_name_.end()) continue;
    if (servers_[found->second].spec.request_id == spec.request_id) continue;
    return Error{Code::AlreadyExists, fmt::format("a server '{}' was made before; names are not "
                                                  "used twice",
                                                  spec.name)};
  }
  return {};
}

std::int64_t DiscreteEventProvider::free_in(const std::string& zone, OfferClass offer_class) const {
  std::int64_t all = 0;
  std::int64_t spot = 0;
  for (const Server& server : servers_) {
    if (has_ended(server) || server.spec.offer.zone != zone) continue;
    ++all;
    if (server.spec.offer.offer_class == OfferClass::Spot) ++spot;
  }
  std::int64_t free = std::numeric_limits<std::int64_t>::max();
  const auto limit = world_.capacity.find(zone);
  if (limit != world_.capacity.end()) free = limit->second - all;
  const auto trace = world_.traces.find(zone);
  if (trace != world_.traces.end() && offer_class == OfferClass::Spot) {
    free = std::min<std::int64_t>(free, trace->second.at(now_) - spot);
  }
  return std::max<std::int64_t>(free, 0);
}

Result<std::vector<Server>> DiscreteEventProvider::create_all(const std::vector<ServerSpec>& specs,
                                                              std::size_t min) {
  TRY(check(specs, min));
  std::map<std::pair<std::string, OfferClass>, std::int64_t> free;
  std::vector<const ServerSpec*> accepted;
  for (const ServerSpec& spec : specs) {
    if (by_request_.contains(spec.request_id)) {
      accepted.push_back(&spec);
      continue;
    }
    const auto key = std::pair(spec.offer.zone, spec.offer.offer_class);
    auto& left = free.try_emplace(key, free_in(key.first, key.second)).first->second;
    if (left == 0) continue;
    --left;
    accepted.push_back(&spec);
  }
  if (accepted.size() < min) {
    return Error{
        Code::ResourceExhausted,
        fmt::format("{} of {} servers can be had, and at least {} are wanted: the zone has "
                    "no more capacity",
                    accepted.size(), specs.size(), min)};
  }
  std::vector<Server> created;
  for (const ServerSpec* spec : accepted) created.push_back(servers_[add(*spec)]);
  return created;
}

std::size_t DiscreteEventProvider::add(const ServerSpec& spec) {
  const auto known = by_request_.find(spec.request_id);
  if (known != by_request_.end()) return known->second;
  const std::size_t index = servers_.size();
  servers_.push_back({.spec = spec});
  by_name_[spec.name] = index;
  by_request_[spec.request_id] = index;
  emit(index, {.kind = ServerEvent::Kind::Requested});
  Random random = stream_of(world_.seed, "start-up", spec.name);
  const Duration start_up = world_.start_up ? world_.start_up(spec.offer, random) : Duration();
  schedule(
      {.at = later(now_, std::max(start_up, Duration())), .kind = Due::Kind::Run, .server = index});
  return index;
}

Result<std::vector<Server>> DiscreteEventProvider::list(std::string_view job) {
  std::vector<Server> found;
  for (const Server& server : servers_) {
    if (job.empty() || server.spec.job == job) found.push_back(server);
  }
  return found;
}

Status DiscreteEventProvider::stop(std::string_view server, EndReason reason) {
  const auto found = by_name_.find(server);
  if (found == by_name_.end()) return Error{Code::NotFound, fmt::format("no server '{}'", server)};
  Server& stopped = servers_[found->second];
  if (!is_alive(stopped)) return {};
  if (world_.stop_time == Duration()) {
    end(found->second, reason, "");
    return {};
  }
  stopped.state = ServerState::Stopping;
  schedule({.at = later(now_, world_.stop_time),
            .kind = Due::Kind::End,
            .server = found->second,
            .reason = reason});
  return {};
}

Result<std::vector<ServerEvent>> DiscreteEventProvider::events_after(std::int64_t sequence) {
  const auto from =
      std::clamp<std::int64_t>(sequence, 0, static_cast<std::int64_t>(events_.size()));
  return std::vector(events_.begin() + from, events_.end());
}

void DiscreteEventProvider::schedule(Due due) {
  if (due.at == kNever) return;
  due.order = ++order_;
  queue_.push(std::move(due));
}

void DiscreteEventProvider::happen(const Due& due) {
  switch (due.kind) {
    case Due::Kind::Run:
      return run(due.server);
    case Due::Kind::AtRisk:
      if (servers_[due.server].state == ServerState::Running) {
        emit(due.server, {.kind = ServerEvent::Kind::AtRisk});
      }
      return;
    case Due::Kind::Notice:
      return notice(due.server, due.reason);
    case Due::Kind::End:
      if (!has_ended(servers_[due.server])) end(due.server, due.reason, "");
      return;
    case Due::Kind::Shock:
      return shock(due.zone);
    case Due::Kind::Tick:
      return shrink(due.zone);
    case Due::Kind::Revocation: {
      const auto found = by_name_.find(world_.revocations[due.server].server);
      if (found != by_name_.end()) notice(found->second, EndReason::Revoked);
      return;
    }
  }
}

void DiscreteEventProvider::run(std::size_t server) {
  if (!is_alive(servers_[server])) return;
  emit(server, {.kind = ServerEvent::Kind::Running});
  servers_[server].address = servers_[server].spec.name;
  const Offer& offer = servers_[server].spec.offer;
  Duration age = offer.life_max.value_or(kForever);
  EndReason reason = EndReason::LifeEnded;
  if (offer.offer_class == OfferClass::Spot && world_.lifetime) {
    if (const auto lifetime = world_.lifetime(offer)) {
      Random random = stream_of(world_.seed, "lifetime", servers_[server].spec.name);
      const Duration revoked = lifetime->sample(random);
      const bool limit = lifetime->limit() && revoked >= *lifetime->limit();
      if (revoked < age) {
        age = revoked;
        reason = limit ? EndReason::LifeEnded : EndReason::Revoked;
      }
    }
  }
  if (age == kForever) return;
  const Duration until = std::max(age - offer.notice, Duration());
  schedule(
      {.at = later(now_, until), .kind = Due::Kind::Notice, .server = server, .reason = reason});
  if (world_.at_risk > Duration() && until > world_.at_risk) {
    schedule(
        {.at = later(now_, until - world_.at_risk), .kind = Due::Kind::AtRisk, .server = server});
  }
}

// A server that does not run yet ends at once.
void DiscreteEventProvider::notice(std::size_t server, EndReason reason) {
  const Server& noticed = servers_[server];
  if (!is_alive(noticed) || noticed.state == ServerState::Noticed) return;
  const Duration left = noticed.spec.offer.notice;
  if (noticed.state != ServerState::Running || left <= Duration()) return end(server, reason, "");
  emit(server, {.kind = ServerEvent::Kind::Notice, .deadline = later(now_, left)});
  schedule({.at = later(now_, left), .kind = Due::Kind::End, .server = server, .reason = reason});
}

void DiscreteEventProvider::end(std::size_t server, EndReason reason, std::string detail) {
  using Kind = ServerEvent::Kind;
  const bool broke = reason == EndReason::HostError || reason == EndReason::LaunchError ||
                     reason == EndReason::StockOut || reason == EndReason::Quota;
  const Kind kind = reason == EndReason::Revoked ? Kind::Revoked
                    : broke                      ? Kind::Failed
                                                 : Kind::Stopped;
  emit(server, {.kind = kind, .reason = reason, .detail = std::move(detail)});
}

void DiscreteEventProvider::shock(const std::string& zone) {
  const ZoneShocks& shocks = world_.shocks.at(zone);
  const std::uint64_t number = shocks_.at(zone).bits();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const Offer& offer = servers_[i].spec.offer;
    if (offer.zone != zone || offer.offer_class != OfferClass::Spot || !is_alive(servers_[i]))
      continue;
    Random random = stream_of(number, "shock", servers_[i].spec.name);
    if (random.uniform() < shocks.probability) notice(i, EndReason::Revoked);
  }
  plan_shock(zone);
}

void DiscreteEventProvider::plan_shock(const std::string& zone) {
  const double wait_s = shocks_.at(zone).exponential(3600 / world_.shocks.at(zone).per_hour);
  schedule({.at = later(now_, from_seconds(wait_s)), .kind = Due::Kind::Shock, .zone = zone});
}

// Servers beyond what the zone still has are revoked, each with the same probability.
void DiscreteEventProvider::shrink(const std::string& zone) {
  const ZoneTrace& trace = world_.traces.at(zone);
  std::vector<std::size_t> spot;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const Server& server = servers_[i];
    if (server.spec.offer.zone != zone || server.spec.offer.offer_class != OfferClass::Spot)
      continue;
    if (is_alive(server) && server.state != ServerState::Noticed) spot.push_back(i);
  }
  for (auto left = static_cast<std::int64_t>(spot.size()); left > trace.at(now_); --left) {
    const auto chosen = static_cast<std::size_t>(random_.between(0, left - 1));
    notice(spot[chosen], EndReason::Revoked);
    spot.erase(spot.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  schedule({.at = trace.next_change(now_), .kind = Due::Kind::Tick, .zone = zone});
}

void DiscreteEventProvider::emit(std::size_t server, ServerEvent event) {
  event.sequence = static_cast<std::int64_t>(events_.size()) + 1;
  event.at = now_;
  event.server = servers_[server].spec.name;
  const Status applied = apply(servers_[server], event);
  INVARIANT(applied.ok(), "an event is emitted only where the state allows it");
  events_.push_back(std::move(event));
}

}  // namespace orrery
