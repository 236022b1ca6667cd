#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace orrery {

// What a command line says of itself, as values. Hidden commands and options are left out.
struct CommandOption {
  std::vector<std::string> names{};  // "-o", "--out"; of an argument: its name
  std::string value{};               // such as TEXT; empty: a flag
  std::string help{};                // with range and default
  bool is_required = false;
  bool is_repeatable = false;
};

struct CommandLine {
  std::string name{};  // with those above it: "orrery twin run"
  std::string help{};
  std::vector<CommandOption> options{}, arguments{};
  std::vector<CommandLine> commands{};

  std::string last_name() const { return name.substr(name.rfind(' ') + 1); }
};

CommandLine read_command_line(const CLI::App& app);

// The command line and all its commands, each before those below it.
std::vector<const CommandLine*> all_commands(const CommandLine& program);

std::string joined(const std::vector<std::string>& words, const std::string& between);

// Names of options: all of them, and those that take a value.
std::vector<std::string> option_names(const CommandLine& command, bool with_value_only = false);

// True if the words of the command are commands themselves, as in `orrery help COMMAND`.
bool takes_commands(const CommandLine& command);

// File name and text of each page of section 1: the program, and one for each of its commands.
std::vector<std::pair<std::string, std::string>> man_pages(const CommandLine& program);

// Scripts that complete commands and options; all else is a file.
std::string bash_completion(const CommandLine& program);
std::string zsh_completion(const CommandLine& program);
std::string fish_completion(const CommandLine& program);

}  // namespace orrery
