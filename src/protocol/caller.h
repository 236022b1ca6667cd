#pragma once

#include <cstdint>
#include <string>

#include "model/time.h"

// Who asks, and how one comes to be somebody.

namespace orrery {

// Who asks, as the connection has proved it.
struct Caller {
  enum class Role : std::uint8_t { User, Operator, Agent, Admin };
  Role role = Role::User;
  std::string name{};
  bool operator==(const Caller&) const = default;
};

struct TokenRequest {
  Caller::Role role = Caller::Role::Agent;
  std::string name{};  // empty: whoever comes
  Duration valid = std::chrono::hours(1);
  int uses = 1;
  bool operator==(const TokenRequest&) const = default;
};
struct TokenAnswer {
  std::string token{};
  bool operator==(const TokenAnswer&) const = default;
};
// The one call that needs no certificate.
struct JoinRequest {
  std::string token{};
  std::string name{};
  std::string certificate_request{};
  bool operator==(const JoinRequest&) const = default;
};
struct JoinAnswer {
  std::string certificate{};
  std::string authority{};
  bool operator==(const JoinAnswer&) const = default;
};

}  // namespace orrery
