#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "policy/registry.h"
#include "report/trace_summary.h"
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
                    {"elasticflow", in(option.in_elasticflow)}});
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
    text += '\n';
  }
  return text;
}

// The columns on lines that fit a terminal of 80, cut after a comma.
std::vector<std::string> wrapped(std::string_view columns) {
  constexpr std::size_t kWidth = 60;
  std::vector<std::string> lines(1);
  while (!columns.empty()) {
    const std::string_view part = columns.substr(0, columns.find(',') + 1);
    const std::string_view column = part.empty() ? columns : part;
    if (!lines.back().empty() && lines.back().size() + column.size() > kWidth) {
      lines.emplace_back();
    }
    lines.back() += column;
    columns.remove_prefix(column.size());
  }
  return lines;
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
      "defaults in the published worlds (--semantics muri, elasticflow).\n";
  return print_text(text);
}

Status traces_command(const TracesArguments& arguments) {
  if (!arguments.trace.empty()) {
    TRY_ASSIGN(const Workload workload,
               load_workload(arguments.trace, {.format = arguments.trace_format,
                                               .limit = arguments.limit,
                                               .profiles = arguments.profiles,
                                               .gpu_type = arguments.gpu_type}));
    if (workload.jobs.empty()) return invalid(arguments.trace + ": has no jobs");
    const TraceSummary summary = summarise(workload);
    return print_text(arguments.json ? to_json(summary)
                                     : to_text(summary, std::clamp(terminal_width(), 60, 80)));
  }
  if (arguments.json) {
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
    text += fmt::format("  {:<15} {}\n", format.name, format.summary);
    for (const std::string& line : wrapped(format.columns)) {
      text += fmt::format("                  {}\n", line);
    }
  }
  text += "\ngenerators, as --trace NAME:key=value,... or `orrery generate NAME`\n";
  for (const Generator& generator : generators()) {
    text += fmt::format("  {:<15} {}\n", generator.name, generator.summary);
    for (const GeneratorOption& option : generator.options) {
      text += fmt::format("    {}={}  {}\n", option.name, option.default_value, option.meaning);
    }
  }
  return print_text(text);
}

}  // namespace orrery
