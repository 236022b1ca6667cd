#include "live/auth/served_users.h"

#include <fmt/format.h>

namespace orrery {

Status ServedUsers::check(const Identity& caller) const {
  if (others || caller.role == Role::Agent || caller.role == Role::Scraper ||
      caller.name == owner || caller.name == "root") {
    return {};
  }
  return Error{Code::PermissionDenied,
               fmt::format("permission denied: this scheduler runs as {0} and serves {0} and root "
                           "alone, not {1}; {0} can start it with --other-users to serve every "
                           "user (their jobs then need an agent that runs as root)",
                           owner, caller.name)};
}

}  // namespace orrery
