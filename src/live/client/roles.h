#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "live/api/caller.h"

namespace orrery {

inline constexpr std::string_view kJoinRoles = "agent, user, operator or scraper";
inline constexpr std::string_view kAllRoles = "user, operator, agent, admin or scraper";

std::string role_text(Caller::Role role);
// One of the choices, which the error lists.
Result<Caller::Role> parse_role(const std::string& text, std::string_view choices);

}  // namespace orrery
