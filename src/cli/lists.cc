#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "policy/registry.h"
#include "workload/generate.h"
#include "workload/trace.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

Json options_json(std::span<const OptionInfo> options) {
  Json list = Json::array();
  for (const OptionInfo& option : options) {
    const auto in = [&](std::string_view value) { return value.empty() ? option.value : value; };
    list.push_back({{"key", option.key},
                    {"meaning", option.meaning},
                    {"default", option.value},
                    {"muri", in(option.in_muri)},
                    {"elasticflow", in(option.in_elasticflow)},
                    {"synergy", in(option.in_synergy)}});
  }
  return list;
}

std::string options_text(std::span<const OptionInfo> options) {
  std::string text;
  for (const OptionInfo& option : options) {
    text += fmt::format("    {}={}  {}", option.key, option.value, option.meaning);
    if (!option.in_muri.empty()) text += fmt::format(" (in muri: {})", option.in_muri);
    if (!option.in_elasticflow.empty()) {
      text += fmt::format(" (in elasticflow: {})", option.in_elasticflow);
    }
    if (!option.in_synergy.empty()) text += fmt::format(" (in synergy: {})", option.in_synergy);
    text += '\n';
  }
  return text;
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
    return print_text(all.dump(2) + "\n");
  }
  std::string text;
  for (const PolicyInfo& policy : policies()) {
    text += fmt::format("{:<10} {}\n", policy.name, policy.line);
    text += options_text(policy.options);
  }
  text += "\nevery policy takes\n";
  text += options_text(common_options());
  text += "\nplacements\n";
  for (const PlacementRuleInfo& rule : placement_rules()) {
    text += fmt::format("    {:<13} {}\n", rule.name, rule.line);
  }
  text +=
      "\nWrite --policy las,muri-l:packing=2 to give one policy an option of its own, or\n"
      "--option packing=2 to give it to all that know it. Values in brackets are the\n"
      "defaults in the published worlds (--semantics muri, elasticflow, synergy).\n";
  return print_text(text);
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
    return print_text(all.dump(2) + "\n");
  }
  std::string text = "formats\n";
  for (const TraceFormat& format : trace_formats()) {
    text += fmt::format("  {:<12} {}\n               {}\n", format.name, format.summary,
                        format.columns);
  }
  text += "\ngenerators, as --trace NAME:key=value,... or `orrery generate NAME`\n";
  for (const Generator& generator : generators()) {
    text += fmt::format("  {:<12} {}\n", generator.name, generator.summary);
    for (const GeneratorOption& option : generator.options) {
      text += fmt::format("    {}={}  {}\n", option.name, option.default_value, option.meaning);
    }
  }
  return print_text(text);
}

}  // namespace orrery
