#include "live/job_runner/job_user.h"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/logins.h"

namespace orrery {
namespace {

Error not_permitted(const std::string& name) {
  const std::string own = login_name(::geteuid());
  return {Code::PermissionDenied, "permission denied: this node's agent runs as '" + own +
                                      "' and cannot become '" + name +
                                      "'; only an agent that runs as root starts jobs of other "
                                      "users than its own"};
}

}  // namespace

Result<std::optional<JobUser>> find_job_user(const std::string& name) {
  if (name.empty()) return std::optional<JobUser>{};
  const uid_t own = ::geteuid();
  errno = 0;
  const passwd* const entry = getpwnam(name.c_str());
  const int problem = errno;
  if (entry && (own == 0 || entry->pw_uid == own)) {
    return std::optional<JobUser>(JobUser{
        .name = entry->pw_name, .home = entry->pw_dir, .uid = entry->pw_uid, .gid = entry->pw_gid});
  }
  // A user without a name of its own on this machine goes by its number.
  if (!entry && own != 0 && name == login_name(own)) {
    return std::optional<JobUser>(
        JobUser{.name = name, .home = "/", .uid = own, .gid = ::getegid()});
  }
  if (own != 0) return not_permitted(name);
  if (problem != 0 && problem != ENOENT) return system_error("user '" + name + "'", problem);
  return Error{Code::NotFound, "there is no user '" + name + "' on this node"};
}

std::string only_job_user() { return ::geteuid() == 0 ? "" : login_name(::geteuid()); }

}  // namespace orrery
