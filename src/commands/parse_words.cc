#include "commands/parse_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "base/nearest_word.h"
#include "report/terminal/words.h"

namespace orrery {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) {
         return !one->get_name().empty() && !one->get_group().empty();
       })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  return std::string(nearest_word(word, views));
}

// What is wrong with the word in the place of the command; empty: nothing, or an option is there.
std::string command_problem(const CLI::App& app, std::span<char* const> words) {
  const std::vector<std::string> names = commands_of(app);
  const std::string word = words.size() > 1 ? words[1] : "";
  const auto all = app.get_subcommands({});
  if (word.starts_with('-') || std::ranges::any_of(all, [&](const CLI::App* command) {
        return command->get_name() == word;
      })) {
    return "";
  }
  const std::string there_are = fmt::format("there are {}", fmt::join(names, ", "));
  return word.empty() ? fmt::format("say what to do: {}", there_are)
                      : fmt::format("there is no command '{}'; did you mean {}? {}", word,
                                    nearest(word, names), there_are);
}

// The innermost command that was given.
const CLI::App& chosen_command(const CLI::App& app) {
  const CLI::App* chosen = &app;
  while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().back();
  return *chosen;
}

// About the first option that no command knows; empty: there is none.
std::string unknown_option(const CLI::App& app, std::span<char* const> words) {
  const std::vector<std::string> left = app.remaining(true);
  const auto is_left = [&](const char* word) {
    return word[0] == '-' && std::ranges::find(left, word) != left.end();
  };
  const auto unknown = std::ranges::find_if(words, is_left);
  if (unknown == words.end()) return "";
  const std::string option(*unknown);
  std::vector<std::string> known;
  for (const CLI::Option* one : chosen_command(app).get_options()) {
    for (const std::string& name : one->get_lnames()) known.push_back("--" + name);
  }
  if (known.empty()) return fmt::format("{}: there is no such option", option);
  return fmt::format("{}: there is no such option; did you mean {}?", option,
                     nearest(option.substr(0, option.find('=')), known));
}

// CLI11 reports "Could not convert: NAME = TEXT" and no more.
std::string unreadable_value(const CLI::App& app, const std::string& report) {
  for (const CLI::Option* option : chosen_command(app).get_options()) {
    const std::string name = option->get_name();
    const std::string start = fmt::format("Could not convert: {} = ", name);
    if (!report.starts_with(start)) continue;
    const bool may_have_a_fraction = option->get_type_name().find("FLOAT") != std::string::npos;
    return fmt::format("{}: '{}' is no {} that can be used here", name, report.substr(start.size()),
                       may_have_a_fraction ? "number" : "whole number");
  }
  return report;
}

std::string advice(const CLI::App& app) {
  const CLI::App& chosen = chosen_command(app);
  if (&chosen == &app) return "\nTry 'orrery --help' or 'orrery help COMMAND'.";
  std::string name = chosen.get_name();
  for (const CLI::App* above = chosen.get_parent(); above != &app; above = above->get_parent()) {
    name = above->get_name() + " " + name;
  }
  return fmt::format("\nTry 'orrery {} --help'.", name);
}

}  // namespace

std::optional<int> parse_words(CLI::App& app, std::span<char*> words) {
  if (const std::string problem = command_problem(app, words); !problem.empty()) {
    complain(problem + "\nTry 'orrery demo' first, or 'orrery --help'.");
    return 2;
  }
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& problem) {
    const std::string unknown = unknown_option(app, words);
    complain((unknown.empty() ? unreadable_value(app, problem.what()) : unknown) + advice(app));
    return 2;
  }
  return std::nullopt;
}

Result<std::string> help_text(CLI::App& app, std::span<const std::string> names) {
  CLI::App* command = &app;
  std::string full = "orrery";
  for (const std::string& name : names) {
    const auto below = command->get_subcommands({});
    const auto found = std::ranges::find(below, name, &CLI::App::get_name);
    if (found == below.end()) {
      const std::vector<std::string> known = commands_of(*command);
      if (known.empty()) return invalid(fmt::format("{} has no commands of its own", full));
      return invalid(fmt::format("there is no command '{}'; did you mean {}? there are {}", name,
                                 nearest(name, known), fmt::join(known, ", ")));
    }
    command = *found;
    full += " " + name;
  }
  // App::help() would show the command that was chosen, which is this one.
  return app.get_formatter()->make_help(command, full, CLI::AppFormatMode::Normal);
}

}  // namespace orrery
