#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/provider/offer.h"
#include "model/time.h"

namespace orrery {

// One server to be made. `name` is unique among all servers of a job, ended ones included: an
// index is never used twice.
struct ServerSpec {
  std::string name{};
  std::string job{};
  std::string role{};  // "chief", "worker", "ps", "evaluator", "node"
  int index = 0;
  Offer offer{};
  std::map<std::string, std::string> labels{};
  std::string startup{};   // a script that the server runs at its start; empty: none
  std::string shutdown{};  // a script that it runs when its end is near, as far as time allows
  // Two requests with one identity make one server. 128 bits in hexadecimal with dashes (a UUID).
  std::string request_id{};
};

// In the order in which a server goes through them. A state may be skipped, none comes twice.
enum class ServerState : std::uint8_t {
  Requested,
  Provisioning,
  Staging,
  Running,
  Noticed,  // runs, and a revocation has been announced
  Stopping,
  Ended,
};

// Why a server ended.
enum class EndReason : std::uint8_t {
  None,  // it has not
  Completed,
  Revoked,
  LifeEnded,  // the provider's limit, not a revocation
  UserStop,
  ClusterStop,
  HostError,
  StockOut,  // no capacity in the zone
  Quota,
  LaunchError,
};

// What is known of a server. Instants are on the provider's clock; kNever: not yet.
struct Server {
  ServerSpec spec{};
  ServerState state = ServerState::Requested;
  EndReason end_reason = EndReason::None;
  std::string address{};  // empty before Running
  Time requested = kNever;
  Time running = kNever;
  Time noticed = kNever;
  Time deadline = kNever;  // of the notice: the server may be gone from then on
  Time ended = kNever;
};

// One thing that happened to a server.
struct ServerEvent {
  enum class Kind : std::uint8_t {
    Requested,
    Running,
    AtRisk,   // a revocation is more likely than usual; nothing is certain
    Notice,   // the server ends at `deadline`
    Revoked,  // it has ended so
    Stopped,  // it has ended because it was asked to, or because its life was over
    Failed,   // it never ran, or its host broke; `reason` says which
  };
  std::int64_t sequence = 0;  // counts from 1 without gaps, over all servers of the provider
  Time at{};
  Kind kind{};
  std::string server{};
  Time deadline = kNever;  // of Notice
  EndReason reason = EndReason::None;
  std::string detail{};  // the provider's own words
};

bool has_ended(const Server& server);
// True if it can still do work: Running or Noticed.
bool is_up(const Server& server);
// The seconds that the server is charged for until `now`: from its request to its end, as providers
// count from the start of provisioning. Nothing for a server that never ran.
double billed_s(const Server& server, Time now);
// What these seconds cost.
double cost_usd(const Server& server, Time now);

// Brings `server` forward by `event`. FailedPrecondition: the event cannot follow its state, and
// nothing has changed.
Status apply(Server& server, const ServerEvent& event);

std::string_view text_of(ServerState state);
std::string_view text_of(EndReason reason);
std::string_view text_of(ServerEvent::Kind kind);
// The inverse; nothing for another word.
std::optional<ServerState> server_state_of(std::string_view word);
std::optional<EndReason> end_reason_of(std::string_view word);

}  // namespace orrery
