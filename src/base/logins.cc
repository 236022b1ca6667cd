#include "base/logins.h"

#include <pwd.h>

#include <algorithm>
#include <vector>

namespace orrery {
namespace {

bool letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > kPlainNameBytesMax || !letter_or_digit(name.front())) {
    return false;
  }
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return letter_or_digit(c) || c == '.' || c == '-' || c == '@'; });
}

std::optional<std::string> known_login(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr &&
      is_plain_name(found->pw_name)) {
    return found->pw_name;
  }
  return {};
}

std::string login_name(uid_t uid) {
  return known_login(uid).value_or("uid-" + std::to_string(uid));
}

}  // namespace orrery
