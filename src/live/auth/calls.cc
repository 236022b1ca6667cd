#include "live/auth/calls.h"

#include <fmt/format.h>

#include <string>

namespace orrery {
namespace {

std::string listed(const Roles& roles) {
  std::string text;
  for (const Role role : kRoles) {
    if (roles.has(role)) text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(role));
  }
  return text.empty() ? "no role" : text;
}

}  // namespace

bool may(const Identity& caller, Call call, std::string_view owner) {
  const Permission allowed = permission(call);
  const bool own = owner.empty() || owner == caller.name;
  return (own ? allowed.own : allowed.of_others).has(caller.role);
}

Status check_call(const Identity& caller, Call call, std::string_view owner) {
  if (may(caller, call, owner)) return {};
  const Permission allowed = permission(call);
  if (allowed.own.has(caller.role)) {
    return Error{
        Code::PermissionDenied,
        fmt::format("{}: {} {} may do this only for what is their own (for that of "
                    "others: {})",
                    allowed.call, to_string(caller.role), caller.name, listed(allowed.of_others))};
  }
  return Error{Code::PermissionDenied,
               fmt::format("{}: not for {} {} (may: {})", allowed.call, to_string(caller.role),
                           caller.name, listed(allowed.own))};
}

}  // namespace orrery
