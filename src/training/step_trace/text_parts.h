#pragma once

#include <string>
#include <string_view>

#include "base/plain_text.h"

namespace orrery {

// For the readers of text files.

// Foreign text for a message: short, and as a terminal may show it.
inline std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  return plain_text(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

// Without a line end of CRLF.
inline std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace orrery
