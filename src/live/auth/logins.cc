#include "live/auth/logins.h"

#include <grp.h>
#include <pwd.h>

#include <optional>
#include <vector>

#include "base/logins.h"

namespace orrery {
namespace {

// Linux shows this one for every user id that the namespace of the reader does not know.
constexpr uid_t kUnmappedUser = 65534;

}  // namespace

std::vector<std::string> groups_of_login(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return {};
  }
  std::vector<gid_t> ids(64);
  int count = static_cast<int>(ids.size());
  if (::getgrouplist(name.c_str(), found->pw_gid, ids.data(), &count) < 0) {
    ids.resize(static_cast<std::size_t>(count));
    if (::getgrouplist(name.c_str(), found->pw_gid, ids.data(), &count) < 0) return {};
  }
  ids.resize(static_cast<std::size_t>(count));
  std::vector<std::string> names;
  buffer.resize(std::size_t{1} << 20);  // groups may have many members
  for (const gid_t id : ids) {
    group group_entry{};
    group* known = nullptr;
    if (::getgrgid_r(id, &group_entry, buffer.data(), buffer.size(), &known) == 0 &&
        known != nullptr) {
      names.emplace_back(known->gr_name);
    }
  }
  return names;
}

Result<Identity> local_identity(uid_t uid, uid_t owner) {
  if (uid == 0 || uid == owner) return Identity{Role::Admin, login_name(uid)};
  const auto name = uid == kUnmappedUser ? std::nullopt : known_login(uid);
  if (name) return Identity{Role::User, *name};
  return Error{Code::Unauthenticated,
               "user id " + std::to_string(uid) +
                   " is no login of this machine; join with a token, and write --server"};
}

}  // namespace orrery
