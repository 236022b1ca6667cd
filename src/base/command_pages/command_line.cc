#include "base/command_pages/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

namespace orrery {
namespace {

// Of "INT:INT in [0 - 64]" and the like: the type, and the range.
std::pair<std::string, std::string> type_and_range(const std::string& text) {
  const auto colon = text.find(':');
  return {text.substr(0, colon), colon == text.npos ? "" : text.substr(colon + 1)};
}

CommandOption read_option(const CLI::Option& option) {
  CommandOption read{
      .is_required = option.get_required(),
      .is_repeatable = option.get_items_expected_max() >= CLI::detail::expected_max_vector_size};
  for (const std::string& name : option.get_snames()) read.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) read.names.push_back("--" + name);
  if (option.get_positional()) read.names = {option.get_name(true)};
  const auto [type, range] = type_and_range(option.get_type_name());
  if (option.get_items_expected_max() > 0) read.value = type.empty() ? "VALUE" : type;
  read.help = option.get_description();
  if (!range.empty()) read.help += fmt::format(" ({})", range);
  const std::string usual = option.get_default_str();
  if (!usual.empty() && !read.value.empty()) read.help += fmt::format(" (default: {})", usual);
  return read;
}

CommandLine read_below(const CLI::App& app, const std::string& above) {
  CommandLine read{.name = above.empty() ? app.get_name() : above + " " + app.get_name(),
                   .help = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? read.arguments : read.options).push_back(read_option(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) {
         return !one->get_name().empty() && !one->get_group().empty();
       })) {
    read.commands.push_back(read_below(*command, read.name));
  }
  return read;
}

void add_all(const CommandLine& command, std::vector<const CommandLine*>& all) {
  all.push_back(&command);
  for (const CommandLine& below : command.commands) add_all(below, all);
}

}  // namespace

CommandLine read_command_line(const CLI::App& app) { return read_below(app, ""); }

std::vector<const CommandLine*> all_commands(const CommandLine& program) {
  std::vector<const CommandLine*> all;
  add_all(program, all);
  return all;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::vector<std::string> option_names(const CommandLine& command, bool with_value_only) {
  std::vector<std::string> names;
  for (const CommandOption& option : command.options) {
    if (with_value_only && option.value.empty()) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

bool takes_commands(const CommandLine& command) {
  return command.arguments.size() == 1 && command.arguments.front().names.front() == "command";
}

}  // namespace orrery
