#include "live/auth/identity.h"

#include <fmt/format.h>

#include "base/invariant.h"
#include "base/logins.h"

namespace orrery {
namespace {

constexpr std::string_view kScheme = "orrery://";

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::User:
      return "user";
    case Role::Operator:
      return "operator";
    case Role::Agent:
      return "agent";
    case Role::Admin:
      return "admin";
    case Role::Scraper:
      return "scraper";
  }
  INVARIANT(false, "a role is one of five");
}

std::optional<Role> role_named(std::string_view text) {
  for (const Role role : kRoles) {
    if (to_string(role) == text) return role;
  }
  return std::nullopt;
}

// The message does not repeat the name: it may be anything, of any length, from any caller.
Status check_caller_name(std::string_view name) {
  if (name.empty()) return invalid("a name is missing");
  if (name.size() > kPlainNameBytesMax) {
    return invalid(
        fmt::format("a name of {} bytes; use at most {}", name.size(), kPlainNameBytesMax));
  }
  if (!is_plain_name(name)) {
    return invalid(
        "a name that cannot be used; use letters, digits and . _ - @, beginning with a letter, a "
        "digit or _");
  }
  return {};
}

std::string identity_uri(const Identity& identity) {
  return fmt::format("{}{}/{}", kScheme, to_string(identity.role), identity.name);
}

Result<Identity> parse_identity(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return invalid("no identity: it begins with orrery://");
  uri.remove_prefix(kScheme.size());
  const std::size_t slash = uri.find('/');
  if (slash == uri.npos) return invalid("no identity: it reads orrery://ROLE/NAME");
  const auto role = role_named(uri.substr(0, slash));
  if (!role) return invalid("an unknown role; there are user, operator, agent, admin and scraper");
  TRY(check_caller_name(uri.substr(slash + 1)));
  return Identity{*role, std::string(uri.substr(slash + 1))};
}

}  // namespace orrery
