#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "policy/registry.h"
#include "workload/generate.h"
#include "workload/trace.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

Json options_json(std::span<const OptionInfo> options) {
  Json list = Json::array();
  for (const OptionInfo& option : options) {
    const auto published = option.published.empty() ? option.value : option.published;
    list.push_back({{"key", option.key},
                    {"meaning", option.meaning},
                    {"default", option.value},
                    {"published", published}});
  }
  return list;
}

void print_options(std::span<const OptionInfo> options) {
  for (const OptionInfo& option : options) {
    fmt::print("    {}={}  {}", option.key, option.value, option.meaning);
    if (!option.published.empty()) fmt::print(" (published: {})", option.published);
    fmt::print("\n");
  }
}

}  // namespace

Status policies_command(bool json) {
  if (json) {
    Json all = {{"policies", Json::array()}, {"placements", Json::array()}};
    for (const PolicyInfo& policy : policies()) {
      all["policies"].push_back({{"name", policy.name},
                                 {"line", policy.line},
                                 {"options", options_json(policy.options)}});
    }
    all["common_options"] = options_json(common_options());
    for (const PlacementRuleInfo& rule : placement_rules()) {
      all["placements"].push_back({{"name", rule.name}, {"line", rule.line}});
    }
    fmt::print("{}\n", all.dump(2));
    return {};
  }
  for (const PolicyInfo& policy : policies()) {
    fmt::print("{:<10} {}\n", policy.name, policy.line);
    print_options(policy.options);
  }
  fmt::print("\nevery policy takes\n");
  print_options(common_options());
  fmt::print("\nplacements\n");
  for (const PlacementRuleInfo& rule : placement_rules()) {
    fmt::print("    {:<13} {}\n", rule.name, rule.line);
  }
  fmt::print(
      "\nWrite --policy las,muri-l:packing=2 to give one policy an option of its own, or\n"
      "--option packing=2 to give it to all that know it. Published values are the defaults\n"
      "under the published semantics (--semantics muri).\n");
  return {};
}

Status traces_command(bool json) {
  if (json) {
    Json all = {{"formats", Json::array()}, {"generators", Json::array()}};
    for (const TraceFormat& format : trace_formats()) {
      all["formats"].push_back(
          {{"name", format.name}, {"line", format.summary}, {"columns", format.columns}});
    }
    for (const Generator& generator : generators()) {
      Json options = Json::array();
      for (const GeneratorOption& option : generator.options) {
        options.push_back(
            {{"key", option.name}, {"default", option.default_value}, {"meaning", option.meaning}});
      }
      all["generators"].push_back(
          {{"name", generator.name}, {"line", generator.summary}, {"options", options}});
    }
    fmt::print("{}\n", all.dump(2));
    return {};
  }
  fmt::print("formats\n");
  for (const TraceFormat& format : trace_formats()) {
    fmt::print("  {:<12} {}\n               {}\n", format.name, format.summary, format.columns);
  }
  fmt::print("\ngenerators, as --trace NAME:key=value,... or `orrery generate NAME`\n");
  for (const Generator& generator : generators()) {
    fmt::print("  {:<12} {}\n", generator.name, generator.summary);
    for (const GeneratorOption& option : generator.options) {
      fmt::print("    {}={}  {}\n", option.name, option.default_value, option.meaning);
    }
  }
  return {};
}

}  // namespace orrery
