#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace orrery {

// Lines of words, as trust/ keeps them in the scheduler's log.

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Nine at most: no line has more.
inline std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t space = line.find(' ');
    words.push_back(line.substr(0, space));
    if (space == line.npos || words.size() > 8) return words;
    line.remove_prefix(space + 1);
  }
}

}  // namespace orrery
