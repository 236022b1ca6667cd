#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery {

// The role of a caller in a live cluster. Users submit jobs; operators look after the machines and
// all jobs; agents are the nodes; admins give out these roles; scrapers read metrics and nothing
// else.
enum class Role { User, Operator, Agent, Admin, Scraper };

inline constexpr std::array kRoles{Role::User, Role::Operator, Role::Agent, Role::Admin,
                                   Role::Scraper};

// "user", "operator", "agent", "admin", "scraper".
std::string_view to_string(Role role);
std::optional<Role> role_named(std::string_view text);

// The caller: a user's name, or that of a node. It stands in the caller's certificate, and
// nothing else in a request can change it.
struct Identity {
  Role role{};
  std::string name{};

  bool operator==(const Identity&) const = default;
};

// Names have 1 to 64 of letters, digits and . _ - @ and begin with a letter, a digit or _; so they
// can stand in a certificate, a path, a URI and a log line without being quoted.
Status check_caller_name(std::string_view name);

// "orrery://user/ann", as it stands in a certificate.
std::string identity_uri(const Identity& identity);
Result<Identity> parse_identity(std::string_view uri);

}  // namespace orrery
