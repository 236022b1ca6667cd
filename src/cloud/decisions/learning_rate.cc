#include "cloud/decisions/learning_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace orrery {
namespace {

constexpr auto kRules =
    std::to_array<std::string_view>({"inverse-root", "linear", "none", "naive"});

}  // namespace

double rate_factor(RateRule rule, int live, int at_start, int slots) {
  const double workers = std::max(1, live);
  switch (rule) {
    case RateRule::InverseRoot:
      return 1 / std::sqrt(workers);
    case RateRule::Linear:
      return workers / std::max(1, at_start);
    case RateRule::Naive:
      return 1 / std::sqrt(static_cast<double>(std::max(1, slots)));
    case RateRule::None:
      break;
  }
  return 1;
}

std::string_view text_of(RateRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

std::optional<RateRule> rate_rule_of(std::string_view word) {
  const auto found = std::ranges::find(kRules, word);
  if (found == kRules.end()) return std::nullopt;
  return static_cast<RateRule>(found - kRules.begin());
}

}  // namespace orrery
