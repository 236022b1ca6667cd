#include "scheduling/policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "scheduling/policy/deadline/policies.h"
#include "scheduling/policy/grouping/policies.h"
#include "scheduling/policy/host/host_entries.h"
#include "scheduling/policy/order/policies.h"
#include "scheduling/policy/published/published.h"
#include "scheduling/policy/sharing/policies.h"

namespace orrery {
namespace {

constexpr std::array kCommon = {
    OptionInfo{"placement",
               "which free devices: consolidated, first-fit, best-fit, spread, "
               "random, topology, buddy, survival",
               "consolidated"},
    OptionInfo{"variant",
               "in the world of a released simulator: reference, as released with it, or ours",
               "reference"}};
constexpr std::array<std::string_view, 2> kVariants = {"ours", "reference"};

}  // namespace

std::span<const PolicyInfo> policies() {
  static const std::vector<PolicyInfo> all = [] {
    std::vector<PolicyInfo> list;
    const auto add = [&](const auto& family) {
      for (const PolicyInfo* policy : family) list.push_back(*policy);
    };
    add(kOrderPolicies);
    add(kGroupingPolicies);
    add(kSharingPolicies);
    add(kDeadlinePolicies);
    return list;
  }();
  return all;
}
std::span<const OptionInfo> common_options() { return kCommon; }

PolicyName parse_policy_name(std::string_view name) {
  const std::size_t plus = name.find('+');
  PolicyName parsed{.base = name.substr(0, plus)};
  if (plus == std::string_view::npos) return parsed;
  parsed.allocator = name.substr(plus + 1);
  constexpr std::string_view kPlace = "+place";
  if (parsed.allocator.ends_with(kPlace)) {
    parsed.gathers = true;
    parsed.allocator.remove_suffix(kPlace.size());
  }
  return parsed;
}

bool takes_option(std::string_view policy, std::string_view key) {
  const PolicyName name = parse_policy_name(policy);
  const auto info = std::ranges::find(policies(), name.base, &PolicyInfo::name);
  if (info == policies().end()) return false;
  const auto has = [&](std::span<const OptionInfo> table) {
    return std::ranges::find(table, key, &OptionInfo::key) != table.end();
  };
  if (has(info->options)) return true;
  return name.allocator.empty() ? has(common_options()) : has(allocator_options());
}

Result<PolicySetup> make_policy(const PolicyContext& context) {
  const std::string& name = context.policy.name;
  const std::map<std::string, std::string>& options = context.policy.options;
  const PolicyName parsed = parse_policy_name(name);
  const auto info = std::ranges::find(policies(), parsed.base, &PolicyInfo::name);
  if (info == policies().end()) {
    std::vector<std::string_view> names;
    for (const PolicyInfo& policy : policies()) names.push_back(policy.name);
    return invalid(fmt::format("there is no policy '{}'; choose one of {}", parsed.base,
                               fmt::join(names, ", ")));
  }
  if (!parsed.allocator.empty()) return make_hosted(*info, parsed, context);
  const std::array<std::span<const OptionInfo>, 2> tables = {info->options, kCommon};
  TRY(check_keys(name, tables, options));
  const auto has = [&](std::string_view key) {
    return std::ranges::find(info->options, key, &OptionInfo::key) != info->options.end();
  };
  const Options common(kCommon, {}, options);
  PublishedPolicy released = published_policy(context.published, parsed.base);
  if (!has("variant")) {
    TRY_ASSIGN(const int variant, common.choice("variant", kVariants));
    if (variant == 0) released = {.name = parsed.base, .loop = released.loop};
  }
  const Options own(info->options, released.defaults, options);
  std::string placement = has("placement") ? own.text("placement") : common.text("placement");
  if (has("locality")) {
    TRY_ASSIGN(const bool locality, own.flag("locality"));
    if (!locality) placement = "first-fit";
  }
  PolicySetup setup;
  TRY_ASSIGN(setup.rule, make_placement_rule(placement, context.policy.seed));
  MakePolicy* const make = released.make != nullptr ? released.make : info->make;
  TRY_ASSIGN(setup.policy, make(own, context));
  if (released.loop != nullptr) setup.loop = released.loop(own);
  return setup;
}

}  // namespace orrery
