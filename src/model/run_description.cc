#include "model/run_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"orrery", "muri", "elasticflow", "synergy"};

}  // namespace

Result<SemanticsKind> parse_semantics(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found != kNames.end()) return static_cast<SemanticsKind>(found - kNames.begin());
  return invalid(fmt::format(
      "there are no semantics '{}'; choose orrery, muri, elasticflow or synergy", name));
}

std::string_view to_string(SemanticsKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

}  // namespace orrery
