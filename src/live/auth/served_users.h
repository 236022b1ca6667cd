#pragma once

#include <string>

#include "base/result.h"
#include "live/auth/identity.h"

namespace orrery {

// Which users a scheduler serves. A scheduler that is not root serves its owner and root alone,
// unless its owner says otherwise: the jobs that it starts itself run as its owner.
struct ServedUsers {
  bool others = true;   // every user with a valid identity
  std::string owner{};  // the login name that the scheduler runs as

  // PermissionDenied for a caller that is not served. Agents and
  // scrapers always are.
  Status check(const Identity& caller) const;
};

}  // namespace orrery
