#include <fmt/format.h>

#include <algorithm>

#include "base/command_pages/command_line.h"

// The scripts are alike: they find out which command the words so far have chosen, as the text
// "orrery twin run", and offer what that command has.
namespace orrery {
namespace {

// A word for a shell, in single quotes.
std::string quoted(const std::string& text, const std::string& quote_inside) {
  std::string out = "'";
  for (const char letter : text) out += letter == '\'' ? quote_inside : std::string(1, letter);
  return out + "'";
}
std::string sh(const std::string& text) { return quoted(text, R"('\'')"); }
std::string fish(const std::string& text) {
  std::string escaped;
  for (const char letter : text) escaped += letter == '\\' ? "\\\\" : std::string(1, letter);
  return quoted(escaped, "\\'");
}

// The name of a function of the shell.
std::string function_name(const std::string& program) {
  std::string name = "_" + program;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<std::string> command_names(const CommandLine& command) {
  std::vector<std::string> names;
  for (const CommandLine& below : command.commands) names.push_back(below.last_name());
  return names;
}

// The commands that may stand in the place of the next word.
const CommandLine& offered(const CommandLine& program, const CommandLine& command) {
  return takes_commands(command) ? program : command;
}

// A pattern of `case` for all commands but the program.
std::string pattern(const CommandLine& program) {
  std::vector<std::string> names;
  for (const CommandLine* command : all_commands(program)) {
    if (command != &program) names.push_back(sh(command->name));
  }
  return joined(names, " | ");
}

// Of zsh: 'NAME:what it is'.
std::string described(const std::string& name, const std::string& help) {
  std::string text = name + ":";
  for (const char letter : help) text += letter == '\n' ? ' ' : letter;
  return sh(text);
}

}  // namespace

std::string bash_completion(const CommandLine& program) {
  std::string cases;
  for (const CommandLine* command : all_commands(program)) {
    cases += fmt::format(
        "    {})\n      commands={}\n      options={}\n      values={} ;;\n", sh(command->name),
        sh(joined(command_names(offered(program, *command)), " ")),
        sh(joined(option_names(*command), " ")), sh(joined(option_names(*command, true), " ")));
  }
  return fmt::format(R"(# Completion of {0} for bash: written by `{0} describe bash`.
{1}() {{
  local line={0} word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} i
  local commands='' options='' values=''
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${{COMP_WORDS[i]}} == -- ]]; then
      compopt -o bashdefault -o default
      return
    fi
    case "$line ${{COMP_WORDS[i]}}" in
    {2}) line+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case $line in
{3}  esac
  if [[ " $values " == *" $before "* ]]; then
    compopt -o default
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  elif [[ -n $commands ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
  else
    compopt -o default
  fi
}}
complete -F {1} {0}
)",
                     program.name, function_name(program.name), pattern(program), cases);
}

std::string zsh_completion(const CommandLine& program) {
  std::string cases;
  for (const CommandLine* command : all_commands(program)) {
    std::string commands, options;
    for (const CommandLine& below : offered(program, *command).commands) {
      commands += " " + described(below.last_name(), below.help);
    }
    for (const CommandOption& option : command->options) {
      for (const std::string& name : option.names) options += " " + described(name, option.help);
    }
    cases += fmt::format("  {})\n    commands=({} )\n    options=({} )\n    values=({}) ;;\n",
                         sh(command->name), commands, options,
                         joined(option_names(*command, true), " "));
  }
  return fmt::format(R"(#compdef {0}
# Completion of {0} for zsh: written by `{0} describe zsh`.
{1}() {{
  local line={0} i
  local -a commands options values
  for ((i = 2; i < CURRENT; ++i)); do
    if [[ $words[i] == -- ]]; then
      shift $i words
      ((CURRENT -= i))
      _normal
      return
    fi
    case "$line $words[i]" in
    {2}) line+=" $words[i]" ;;
    esac
  done
  case $line in
{3}  esac
  if ((${{values[(Ie)$words[CURRENT-1]]}})); then
    _files
  elif [[ $words[CURRENT] == -* ]]; then
    _describe -o option options
  elif (($#commands)); then
    _describe command commands
  else
    _files
  fi
}}
if [[ $funcstack[1] == _{0} ]]; then
  {1} "$@"
else
  compdef {1} {0}
fi
)",
                     program.name, function_name(program.name), pattern(program), cases);
}

std::string fish_completion(const CommandLine& program) {
  const std::string function = "_" + function_name(program.name) + "_line";
  std::vector<std::string> names;
  std::string rules;
  for (const CommandLine* command : all_commands(program)) {
    names.push_back(fish(command->name));
    const std::string when = fmt::format("complete -c {} -n {}", program.name,
                                         fish(fmt::format("{} \"{}\"", function, command->name)));
    for (const CommandLine& below : offered(program, *command).commands) {
      rules += fmt::format("{} -f -a {} -d {}\n", when, fish(below.last_name()), fish(below.help));
    }
    for (const CommandOption& option : command->options) {
      rules += when;
      for (const std::string& name : option.names) {
        rules += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      rules += fmt::format("{} -d {}\n", option.value.empty() ? "" : " -r", fish(option.help));
    }
  }
  return fmt::format(R"(# Completion of {0} for fish: written by `{0} describe fish`.
# True if the words so far have chosen this command.
function {1}
    set -l line {0}
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        test "$word" = --; and return 1
        contains -- "$line $word" {2}
        and set line "$line $word"
    end
    test "$line" = "$argv[1]"
end
{3})",
                     program.name, function, joined(names, " "), rules);
}

}  // namespace orrery
