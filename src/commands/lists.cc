#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "experiments/runs/output.h"
#include "report/listing/listing.h"
#include "report/metrics/trace_summary.h"
#include "scheduling/policy/published/published.h"
#include "workload/generators/generate.h"
#include "workload/trace.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

// The defaults of one table of options in each published world.
struct WorldDefaults {
  std::string_view world;
  std::span<const OptionDefault> defaults;

  std::string_view of(const OptionInfo& option) const {
    const auto differs = std::ranges::find(defaults, option.key, &OptionDefault::key);
    return differs == defaults.end() ? option.value : differs->value;
  }
};

constexpr std::array kPublished = {muri_world, elasticflow_world, synergy_world};

std::vector<WorldDefaults> defaults_of_policy(std::string_view policy) {
  std::vector<WorldDefaults> all;
  for (const auto world : kPublished) {
    all.push_back({world().name, published_policy(&world(), policy).defaults});
  }
  return all;
}

std::vector<WorldDefaults> defaults_of_allocators() {
  std::vector<WorldDefaults> all;
  for (const auto world : kPublished) {
    all.push_back({world().name, published_allocator_defaults(&world())});
  }
  return all;
}

Json options_json(std::span<const OptionInfo> options, const std::vector<WorldDefaults>& worlds) {
  Json list = Json::array();
  for (const OptionInfo& option : options) {
    list.push_back({{"key", option.key}, {"meaning", option.meaning}, {"default", option.value}});
    if (!option.examples.empty()) list.back()["examples"] = option.examples;
    for (const WorldDefaults& world : worlds) list.back()[world.world] = world.of(option);
  }
  return list;
}

Json needs_json(const JobData& data) {
  Json needs = Json::array();
  if (data.stages) needs.push_back("stages");
  if (data.curves) needs.push_back("curves");
  if (data.deadlines) needs.push_back("deadlines");
  if (data.classes) needs.push_back("classes");
  return needs;
}

Json effects_json(const PolicyEffects& effects) {
  Json list = Json::array();
  if (effects.preempts) list.push_back("preempts");
  if (effects.shares_gpus) list.push_back("shares_gpus");
  if (effects.refuses_jobs) list.push_back("refuses_jobs");
  return list;
}

Json policy_json(const PolicyInfo& policy) {
  return {{"name", policy.name},
          {"line", policy.line},
          {"needs", needs_json(policy.data)},
          {"effects", effects_json(policy.effects)},
          {"options", options_json(policy.options, defaults_of_policy(policy.name))}};
}

// True if rows are asked for. JSON has more than the rows, and so has what people read.
bool is_list(const ListArguments& arguments) {
  return !arguments.is_json() && !(arguments.output.empty() && arguments.sort.empty());
}

Status print_rows(Listing listing, const ListArguments& arguments) {
  TRY_ASSIGN(const std::string text, to_text(std::move(listing), arguments, terminal_width()));
  return print_text(text);
}

std::string options_text(std::span<const OptionInfo> options,
                         const std::vector<WorldDefaults>& worlds) {
  std::string text;
  for (const OptionInfo& option : options) {
    text += fmt::format("    {}={}  {}", option.key, option.value, option.meaning);
    for (const WorldDefaults& world : worlds) {
      if (world.of(option) == option.value) continue;
      text += fmt::format(" (in {}: {})", world.world, world.of(option));
    }
    text += '\n';
  }
  return text;
}

// The text on lines that fit a terminal of 80 after a margin of 18, cut after one of the signs.
std::string wrapped(std::string_view text, std::string_view signs) {
  constexpr std::size_t kWidth = 61;
  std::string all;
  std::size_t length = 0;
  while (!text.empty()) {
    const std::size_t sign = text.find_first_of(signs);
    const std::string_view part = text.substr(0, std::min(sign, text.size() - 1) + 1);
    if (length > 0 && length + part.size() > kWidth) {
      all += "\n" + std::string(18, ' ');
      length = 0;
    }
    all += part;
    length += part.size();
    text.remove_prefix(part.size());
  }
  return all + '\n';
}

Listing trace_listing() {
  Listing listing{.name = "traces",
                  .columns = {{"name", "name"}, {"kind", "kind"}, {"line", "line"}}};
  for (const TraceFormat& format : trace_formats()) {
    listing.rows.push_back({{"name", format.name}, {"kind", "format"}, {"line", format.summary}});
  }
  for (const Generator& generator : generators()) {
    listing.rows.push_back(
        {{"name", generator.name}, {"kind", "generator"}, {"line", generator.summary}});
  }
  return listing;
}

}  // namespace

Status policies_command(const ListArguments& arguments) {
  TRY(check_output(arguments));
  if (is_list(arguments)) {
    Listing listing{
        .name = "policies",
        .columns = {
            {"name", "name"}, {"needs", "needs"}, {"effects", "effects"}, {"line", "line"}}};
    for (const PolicyInfo& policy : policies()) listing.rows.push_back(policy_json(policy));
    return print_rows(std::move(listing), arguments);
  }
  if (arguments.is_json()) {
    Json all = {{"policies", Json::array()}, {"placements", Json::array()}};
    for (const PolicyInfo& policy : policies()) all["policies"].push_back(policy_json(policy));
    all["common_options"] = options_json(common_options(), defaults_of_policy({}));
    for (const AllocatorInfo& allocator : allocators()) {
      all["allocators"].push_back({{"name", allocator.name}, {"line", allocator.line}});
    }
    all["allocator_options"] = options_json(allocator_options(), defaults_of_allocators());
    for (const PlacementRuleInfo& rule : placement_rules()) {
      all["placements"].push_back({{"name", rule.name}, {"line", rule.line}});
    }
    return print_text(all.dump(2) + "\n");
  }
  std::string text;
  for (const PolicyInfo& policy : policies()) {
    text += fmt::format("{:<10} {}\n", policy.name, policy.line);
    text += options_text(policy.options, defaults_of_policy(policy.name));
  }
  text += "\nevery policy takes\n";
  text += options_text(common_options(), {});
  text += "\nallocators of CPUs and memory, after an order: srtf+tune, las+greedy+place\n";
  for (const AllocatorInfo& allocator : allocators()) {
    text += fmt::format("    {:<13} {}\n", allocator.name, allocator.line);
  }
  text += options_text(allocator_options(), defaults_of_allocators());
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

Status traces_command(const TracesArguments& arguments) {
  TRY(check_output(arguments.list));
  if (!arguments.trace.empty()) {
    if (is_list(arguments.list)) {
      return invalid("--output and --sort: of the list of formats; a trace has text and --json");
    }
    TRY_ASSIGN(const Workload workload,
               load_workload(arguments.trace, {.format = arguments.trace_format,
                                               .limit = arguments.limit,
                                               .profiles = arguments.profiles,
                                               .gpu_type = arguments.gpu_type}));
    if (workload.jobs.empty()) return invalid(arguments.trace + ": has no jobs");
    const TraceSummary summary = summarise(workload);
    return print_text(arguments.list.is_json()
                          ? to_json(summary)
                          : to_text(summary, std::clamp(terminal_width(), 60, 80)));
  }
  if (is_list(arguments.list)) return print_rows(trace_listing(), arguments.list);
  if (arguments.list.is_json()) {
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
    text += fmt::format("  {:<16}{}", format.name, wrapped(format.summary, " "));
    text += std::string(18, ' ') + wrapped(format.columns, ",");
  }
  text += "\ngenerators, as --trace NAME:key=value,... or `orrery generate NAME`\n";
  for (const Generator& generator : generators()) {
    text += fmt::format("  {:<16}{}", generator.name, wrapped(generator.summary, " "));
    for (const GeneratorOption& option : generator.options) {
      text += fmt::format("    {}={}  {}\n", option.name, option.default_value, option.meaning);
    }
  }
  return print_text(text);
}

}  // namespace orrery
