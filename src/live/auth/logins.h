#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "live/auth/identity.h"

namespace orrery {

// The names of the groups of a login of this machine; empty where there is none of that name.
std::vector<std::string> groups_of_login(const std::string& name);

// Who somebody on this machine is, by the user id that the kernel vouches for: root and `owner` are
// admins, everybody else a user of the name of his login. Unauthenticated where that says nothing:
// a user id without a name, or the one that stands for all that have none in this namespace.
Result<Identity> local_identity(uid_t uid, uid_t owner);

}  // namespace orrery
