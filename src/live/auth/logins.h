#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "live/auth/identity.h"

namespace orrery {

// The names of the groups of a login of this machine; empty where there is none of that name.
std::vector<std::string> groups_of_login(const std::string& name);

// The identity of a user id on this machine, which the kernel reports: root and `owner` are admins,
// every other login is a user of its name. Unauthenticated if that says nothing:
// a user id without a name, or the one that stands for all that have none in this namespace.
Result<Identity> local_identity(uid_t uid, uid_t owner);

}  // namespace orrery
