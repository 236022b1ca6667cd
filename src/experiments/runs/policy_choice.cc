#include "experiments/runs/policy_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduling/policy/registry.h"

namespace orrery {
namespace {

Result<PolicyChoice> parse_policy(const std::string& text) {
  PolicyChoice choice;
  std::size_t begin = 0;
  for (bool first = true; begin <= text.size(); first = false) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (first) {
      choice.name = part;
    } else {
      TRY_ASSIGN(auto pair, split_pair(part));
      choice.options.insert_or_assign(std::move(pair.first), std::move(pair.second));
    }
    begin = end + 1;
  }
  choice.label = text;
  return choice;
}

}  // namespace

Result<std::pair<std::string, std::string>> split_pair(const std::string& pair) {
  const auto equals = pair.find('=');
  if (equals == std::string::npos || equals == 0) {
    return invalid(fmt::format("option '{}': write key=value", pair));
  }
  return std::pair(pair.substr(0, equals), pair.substr(equals + 1));
}

Result<std::vector<PolicyChoice>> parse_policies(std::span<const std::string> texts,
                                                 std::span<const std::string> options) {
  std::vector<PolicyChoice> choices;
  for (const std::string& text : texts) {
    TRY_ASSIGN(PolicyChoice choice, parse_policy(text));
    choices.push_back(std::move(choice));
  }
  for (const std::string& text : options) {
    TRY_ASSIGN(const auto pair, split_pair(text));
    bool known = false;
    for (PolicyChoice& choice : choices) {
      if (!takes_option(choice.name, pair.first)) continue;
      choice.options.try_emplace(pair.first, pair.second);
      known = true;
    }
    // With one policy its own error names the options there are.
    if (!known && choices.size() == 1) choices[0].options.insert(pair);
    if (!known && choices.size() > 1) {
      return invalid(fmt::format(
          "--option {}: none of the policies knows '{}'; see `orrery policies`", text, pair.first));
    }
  }
  return choices;
}

}  // namespace orrery
