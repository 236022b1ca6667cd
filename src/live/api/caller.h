#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/time.h"

// The caller of the Api, and how it gets a certificate.

namespace orrery {

// The caller, as its connection has proved it.
struct Caller {
  enum class Role : std::uint8_t { User, Operator, Agent, Admin, Scraper };
  Role role = Role::User;
  std::string name{};
  // Of the scheduler's machine. Filled in where a tenant's members are given by groups.
  std::vector<std::string> groups{};
  bool operator==(const Caller&) const = default;
};

struct TokenRequest {
  Caller::Role role = Caller::Role::Agent;
  std::string name{};  // empty: any caller
  Duration valid = std::chrono::hours(1);
  int uses = 1;
  bool operator==(const TokenRequest&) const = default;
};
struct TokenAnswer {
  std::string token{};
  bool operator==(const TokenAnswer&) const = default;
};
// The one call that needs no certificate. With a certificate and without a token it renews that
// certificate.
struct JoinRequest {
  std::string token{};
  std::string name{};
  std::string certificate_request{};
  std::optional<Caller::Role> role{};  // the role that the joiner expects; none: the token's
  bool operator==(const JoinRequest&) const = default;
};
struct JoinAnswer {
  std::string certificate{};
  std::string authority{};
  int port = 0;  // the scheduler's gRPC port
  bool operator==(const JoinAnswer&) const = default;
};

}  // namespace orrery
