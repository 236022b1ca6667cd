#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"

namespace orrery {

struct JobUser {
  std::string name{};
  std::string home{};
  uid_t uid = 0;
  gid_t gid = 0;
};

// The user that a job runs as; nothing for an empty name: as this process does. NotFound for a user
// that this machine does not know. PermissionDenied for one that this process cannot become: only
// root can become another user. A name is never ignored.
Result<std::optional<JobUser>> find_job_user(const std::string& name);

// The one user whose jobs this process can start; empty: those of every user.
std::string only_job_user();

}  // namespace orrery
