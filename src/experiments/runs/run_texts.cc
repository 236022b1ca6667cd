#include "experiments/runs/run_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/duration_text.h"

#include "scheduling/policy/registry.h"

namespace orrery {
namespace {

Result<NamedPolicy> parse_policy(const std::string& text) {
  NamedPolicy choice;
  std::size_t begin = 0;
  for (bool first = true; begin <= text.size(); first = false) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (first) {
      choice.policy.name = part;
    } else {
      TRY_ASSIGN(auto pair, split_pair(part));
      choice.policy.options.insert_or_assign(std::move(pair.first), std::move(pair.second));
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

Result<std::vector<NamedPolicy>> parse_policies(std::span<const std::string> texts,
                                                std::span<const std::string> options) {
  std::vector<NamedPolicy> choices;
  for (const std::string& text : texts) {
    TRY_ASSIGN(NamedPolicy choice, parse_policy(text));
    choices.push_back(std::move(choice));
  }
  for (const std::string& text : options) {
    TRY_ASSIGN(const auto pair, split_pair(text));
    bool known = false;
    for (NamedPolicy& choice : choices) {
      if (!takes_option(choice.policy.name, pair.first)) continue;
      choice.policy.options.try_emplace(pair.first, pair.second);
      known = true;
    }
    // With one policy its own error names the options there are.
    if (!known && choices.size() == 1) choices[0].policy.options.insert(pair);
    if (!known && choices.size() > 1) {
      return invalid(fmt::format(
          "--option {}: none of the policies knows '{}'; see `orrery policies`", text, pair.first));
    }
  }
  return choices;
}

Result<Duration> parse_round(const std::string& text) {
  if (text.empty()) return Duration();
  auto round = parse_duration(text);
  if (!round.ok()) return std::move(round).error().at("--round");
  return round;
}

Result<std::optional<JobWindow>> parse_window(const std::string& text) {
  if (text.empty()) return std::optional<JobWindow>();
  std::int32_t first = 0;
  std::int32_t end = 0;
  const char* stop = text.data() + text.size();
  const auto a = std::from_chars(text.data(), stop, first);
  if (a.ec == std::errc() && a.ptr != stop && *a.ptr == '-') {
    const auto b = std::from_chars(a.ptr + 1, stop, end);
    if (b.ec == std::errc() && b.ptr == stop && 0 <= first && first < end) {
      return std::optional(JobWindow{static_cast<JobId>(first), static_cast<JobId>(end)});
    }
  }
  return invalid(fmt::format("--window {}: write A-B with A < B, such as 1000-2000", text));
}

}  // namespace orrery
