#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace orrery {

// Plain names have 1 to 64 letters, digits and . _ - @ and begin with a letter, a digit or _. They
// stand in a certificate, a path, a URI and a log line without quotes.
inline constexpr std::size_t kPlainNameBytesMax = 64;  // the length of a certificate's common name
bool is_plain_name(std::string_view name);

// The name of a login of this machine; nothing where it has none, or one that is not plain.
std::optional<std::string> known_login(uid_t uid);

// The same, or uid-N where there is no such name.
std::string login_name(uid_t uid);

}  // namespace orrery
