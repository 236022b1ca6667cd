#include "live/api/output_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace orrery {
namespace {

constexpr std::size_t kWidthMost = 10;

std::string in_one_folder(std::string name) {
  std::ranges::replace(name, '/', '_');
  return name;
}

// What a letter stands for; nothing: it is no pattern.
std::optional<std::string> value_of(char letter, std::size_t width, const OutputNames& names) {
  const auto number = [width](std::int64_t value) { return fmt::format("{:0{}}", value, width); };
  switch (letter) {
    case '%':
      return "%";
    case 'j':
      return number(names.job);
    case 'A':
      return number(names.array_job);
    case 'a':
      return number(std::max(0, names.array_index));
    case 'r':
    case 't':
      return number(names.rank);
    case 'n':
      return number(names.node);
    case 'N':
      return in_one_folder(names.node_name);
    case 'u':
      return in_one_folder(names.user);
    case 'x':
      return in_one_folder(names.name);
    default:
      return {};
  }
}

// Cuts the path into what is to be kept and patterns of the form %WIDTHletter.
template <class OnText, class OnPattern>
void walk(std::string_view path, OnText on_text, OnPattern on_pattern) {
  while (!path.empty()) {
    const std::size_t percent = path.find('%');
    on_text(path.substr(0, percent));
    if (percent == std::string_view::npos) return;
    path.remove_prefix(percent);
    std::size_t width = 0;
    std::size_t at = 1;
    for (; at < path.size() && path[at] >= '0' && path[at] <= '9'; ++at) {
      width = std::min(kWidthMost, width * 10 + static_cast<std::size_t>(path[at] - '0'));
    }
    const std::string_view whole = path.substr(0, at + 1);
    on_pattern(whole, at < path.size() ? path[at] : '\0', width);
    path.remove_prefix(whole.size());
  }
}

}  // namespace

Status check_output_pattern(std::string_view path, bool is_array) {
  Status status;
  walk(
      path, [](std::string_view) {},
      [&](std::string_view whole, char letter, std::size_t) {
        if (!status.ok()) return;
        if (!value_of(letter, 0, {})) {
          status = invalid(
              fmt::format("there is no pattern '{}'; write %j (job), %A (array), %a (array index), "
                          "%r (rank), %n (node), %N (its name), %u (user), %x (name) or %%",
                          whole));
        } else if (letter == 'a' && !is_array) {
          status = invalid("%a is the index in an array, and the job is in none; leave it out");
        }
      });
  return status;
}

std::string expand_output(std::string_view path, const OutputNames& names) {
  std::string expanded;
  walk(
      path, [&](std::string_view text) { expanded += text; },
      [&](std::string_view whole, char letter, std::size_t width) {
        expanded += value_of(letter, width, names).value_or(std::string(whole));
      });
  return expanded;
}

}  // namespace orrery
