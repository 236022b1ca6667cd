#include "workload/generators/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "workload/generators/generator.h"
#include "workload/profiles/speed_profiles.h"

namespace orrery {
namespace {

const std::array<const GeneratorEntry*, 3> kEntries = {&kPhillyLike, &kElasticFlowGenerator,
                                                       &kSynergyGenerator};

const GeneratorEntry* find_entry(std::string_view model) {
  const auto found = std::ranges::find(
      kEntries, model, [](const GeneratorEntry* entry) { return entry->generator.name; });
  return found == kEntries.end() ? nullptr : *found;
}

std::string known_models() {
  std::vector<std::string_view> names;
  for (const GeneratorEntry* entry : kEntries) names.push_back(entry->generator.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<GeneratorValues> complete(const Generator& generator,
                                 const std::map<std::string, std::string>& options) {
  GeneratorValues values;
  std::vector<std::string_view> known;
  for (const GeneratorOption& option : generator.options) {
    values.emplace(option.name, option.default_value);
    known.push_back(option.name);
  }
  for (const auto& [key, value] : options) {
    const auto found = values.find(key);
    if (found == values.end()) {
      return invalid(fmt::format("{} has no option '{}'; the known ones are {}", generator.name,
                                 key, fmt::join(known, ", ")));
    }
    found->second = value;
  }
  return values;
}

Result<std::map<std::string, std::string>> split_options(std::string_view text) {
  std::map<std::string, std::string> options;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    const std::string_view pair = text.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return invalid(fmt::format("'{}' must have the form key=value", pair));
    }
    const bool fresh = options.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second;
    if (!fresh) return invalid(fmt::format("option '{}' comes twice", pair.substr(0, equals)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return options;
}

// Gives a generator that has the option the value of the run, unless it has its own.
void pass_on(const GeneratorEntry& entry, std::string_view key, const std::string& value,
             std::map<std::string, std::string>& values) {
  const auto& options = entry.generator.options;
  if (value.empty() || std::ranges::find(options, key, &GeneratorOption::name) == options.end()) {
    return;
  }
  values.try_emplace(std::string(key), value);
}

// What MODEL or MODEL:key=value,... says.
struct Named {
  const GeneratorEntry* entry = nullptr;
  std::map<std::string, std::string> options{};
};

Result<Named> split_argument(const std::string& argument) {
  const std::size_t colon = argument.find(':');
  const GeneratorEntry* entry = find_entry(std::string_view(argument).substr(0, colon));
  if (entry == nullptr) {
    return invalid(
        fmt::format("{}: no such file, nor a generator; those are {}, used as "
                    "MODEL:key=value,...",
                    argument, known_models()));
  }
  std::string_view rest;
  if (colon != std::string::npos) rest = std::string_view(argument).substr(colon + 1);
  auto options = split_options(rest);
  if (!options.ok()) return std::move(options).error().at(argument);
  return Named{entry, std::move(options).value()};
}

}  // namespace

std::span<const Generator> generators() {
  static const auto list = [] {
    std::array<Generator, kEntries.size()> result;
    std::ranges::transform(kEntries, result.begin(), &GeneratorEntry::generator);
    return result;
  }();
  return list;
}

Result<Workload> generate(std::string_view model,
                          const std::map<std::string, std::string>& options) {
  const GeneratorEntry* entry = find_entry(model);
  if (entry == nullptr) {
    return invalid(
        fmt::format("unknown generator '{}'; the known ones are {}", model, known_models()));
  }
  TRY_ASSIGN(const GeneratorValues values, complete(entry->generator, options));
  return entry->make(values);
}

bool goes_on(const std::string& argument) {
  const auto named = split_argument(argument);
  if (!named.ok() || named.value().entry->goes_on == nullptr) return false;
  const auto values = complete(named.value().entry->generator, named.value().options);
  return values.ok() && named.value().entry->goes_on(values.value());
}

bool lacks_option(const std::string& argument, std::string_view option) {
  std::error_code problem;
  if (std::filesystem::exists(argument, problem)) return false;
  const auto named = split_argument(argument);
  if (!named.ok() || named.value().options.contains(std::string(option))) return false;
  return std::ranges::find(named.value().entry->generator.options, option,
                           &GeneratorOption::name) != named.value().entry->generator.options.end();
}

std::string with_option(const std::string& argument, std::string_view option,
                        std::string_view value) {
  const bool first = argument.find(':') == std::string::npos;
  return fmt::format("{}{}{}={}", argument, first ? ':' : ',', option, value);
}

Result<Workload> load_workload(const std::string& argument, const TraceOptions& options) {
  std::error_code error;
  if (argument == "-" || std::filesystem::exists(argument, error))
    return read_trace(argument, options);
  TRY_ASSIGN(const Named named, split_argument(argument));
  if (options.limit < 0) {
    return invalid(fmt::format("a limit of {} jobs makes no sense; 0 means all", options.limit));
  }
  std::map<std::string, std::string> values = named.options;
  pass_on(*named.entry, "profiles", options.profiles, values);
  pass_on(*named.entry, "gpu-type", options.gpu_type, values);
  if (options.drawn > 0 && goes_on(argument)) {
    values.insert_or_assign("jobs", fmt::format_int(options.drawn).str());
  }
  auto made = generate(named.entry->generator.name, values);
  if (!made.ok()) return std::move(made).error().at(argument);
  Workload workload = std::move(made).value();
  workload.name = argument;
  // The tables stay as they are: a name that only a job past the limit uses does no harm.
  if (options.limit > 0 && static_cast<std::size_t>(options.limit) < workload.jobs.size()) {
    workload.jobs.resize(static_cast<std::size_t>(options.limit));
  }
  TRY_ASSIGN(const Profiles profiles, read_all_profiles(options.profiles));
  TRY(attach(profiles, options.gpu_type, argument, workload));
  return workload;
}

}  // namespace orrery
