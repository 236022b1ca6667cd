#include "cloud/provider/server.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace orrery {
namespace {

constexpr auto kClasses = std::to_array<std::string_view>({"on-demand", "spot", "flex"});
constexpr auto kStates = std::to_array<std::string_view>(
    {"requested", "provisioning", "staging", "running", "noticed", "stopping", "ended"});
constexpr auto kReasons = std::to_array<std::string_view>(
    {"none", "completed", "revoked", "life-ended", "user-stop", "cluster-stop", "host-error",
     "stock-out", "quota", "launch-error"});
constexpr auto kKinds = std::to_array<std::string_view>(
    {"requested", "running", "at-risk", "notice", "revoked", "stopped", "failed"});

template <class Enum, std::size_t n>
std::optional<Enum> value_of(const std::array<std::string_view, n>& words, std::string_view word) {
  for (std::size_t i = 0; i < n; ++i) {
    if (words[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

EndReason default_reason(ServerEvent::Kind kind) {
  if (kind == ServerEvent::Kind::Revoked) return EndReason::Revoked;
  return kind == ServerEvent::Kind::Stopped ? EndReason::UserStop : EndReason::LaunchError;
}

Error out_of_order(const Server& server, const ServerEvent& event) {
  return {Code::FailedPrecondition,
          fmt::format("{}: event {} '{}' cannot follow the state '{}'", server.spec.name,
                      event.sequence, text_of(event.kind), text_of(server.state))};
}

}  // namespace

bool has_ended(const Server& server) { return server.state == ServerState::Ended; }

bool is_up(const Server& server) {
  return server.state == ServerState::Running || server.state == ServerState::Noticed;
}

double billed_s(const Server& server, Time now) {
  const bool never_ran = server.running == kNever;
  if (server.requested == kNever || (never_ran && has_ended(server))) return 0;
  const Time end = has_ended(server) ? server.ended : now;
  return end <= server.requested ? 0 : seconds(end - server.requested);
}

double cost_usd(const Server& server, Time now) {
  return billed_s(server, now) * server.spec.offer.price_usd_per_hour / 3600;
}

Status apply(Server& server, const ServerEvent& event) {
  if (has_ended(server)) return out_of_order(server, event);
  switch (event.kind) {
    case ServerEvent::Kind::Requested:
      if (server.requested != kNever) return out_of_order(server, event);
      server.requested = event.at;
      return {};
    case ServerEvent::Kind::Running:
      if (server.state >= ServerState::Running) return out_of_order(server, event);
      server.state = ServerState::Running;
      server.running = event.at;
      return {};
    case ServerEvent::Kind::AtRisk:
      return {};
    case ServerEvent::Kind::Notice:
      if (server.state >= ServerState::Noticed) return out_of_order(server, event);
      server.state = ServerState::Noticed;
      server.noticed = event.at;
      server.deadline = event.deadline;
      return {};
    case ServerEvent::Kind::Revoked:
    case ServerEvent::Kind::Stopped:
    case ServerEvent::Kind::Failed:
      server.state = ServerState::Ended;
      server.ended = event.at;
      server.end_reason =
          event.reason == EndReason::None ? default_reason(event.kind) : event.reason;
      return {};
  }
  return out_of_order(server, event);
}

std::string_view region_of(std::string_view zone) {
  const std::size_t dash = zone.rfind('-');
  return dash == std::string_view::npos ? zone : zone.substr(0, dash);
}

std::string_view text_of(OfferClass offer_class) {
  return kClasses[static_cast<std::size_t>(offer_class)];
}
std::string_view text_of(ServerState state) { return kStates[static_cast<std::size_t>(state)]; }
std::string_view text_of(EndReason reason) { return kReasons[static_cast<std::size_t>(reason)]; }
std::string_view text_of(ServerEvent::Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::optional<OfferClass> offer_class_of(std::string_view word) {
  return value_of<OfferClass>(kClasses, word);
}
std::optional<ServerState> server_state_of(std::string_view word) {
  return value_of<ServerState>(kStates, word);
}
std::optional<EndReason> end_reason_of(std::string_view word) {
  return value_of<EndReason>(kReasons, word);
}

}  // namespace orrery
