#include <fmt/format.h>

#include <algorithm>

#include "base/command_pages/command_line.h"

namespace orrery {
namespace {

// Text as roff takes it: a dash stays a dash, and no line begins with a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else if ((letter == '.' || letter == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + letter;
    } else {
      out += letter;
    }
  }
  return out;
}

// "orrery twin" as the name of a page.
std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string synopsis(const CommandLine& command) {
  std::string line = fmt::format(".B {}\n", roff(command.name));
  if (!command.options.empty()) line += ".RI [ OPTIONS ]\n";
  for (const CommandOption& argument : command.arguments) {
    const std::string dots = argument.is_repeatable ? "..." : "";
    const std::string name = roff(argument.names.front());
    line += argument.is_required ? fmt::format(".I {}{}\n", name, dots)
                                 : fmt::format(".RI [ {} ]{}\n", name, dots);
  }
  if (!command.commands.empty()) line += ".I COMMAND ...\n";
  return line;
}

std::string entry(const CommandOption& option, bool is_argument) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back(fmt::format("\\f{}{}\\fR", is_argument ? "I" : "B", roff(name)));
  }
  std::string tag = joined(names, ", ");
  if (!option.value.empty() && !is_argument) tag += fmt::format(" \\fI{}\\fR", roff(option.value));
  std::string help = option.help;
  if (option.is_required && !is_argument) help += help.empty() ? "required" : "; required";
  return fmt::format(".TP\n{}\n{}\n", tag, roff(help));
}

std::string entries(const CommandLine& command) {
  std::string text;
  for (const CommandOption& argument : command.arguments) text += entry(argument, true);
  for (const CommandOption& option : command.options) text += entry(option, false);
  return text;
}

std::string page(const CommandLine& command, const std::string& program) {
  const std::string name = dashed(command.name);
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  std::string text =
      fmt::format(".TH {0} 1 \"\" \"Orrery\" \"Orrery\"\n.SH NAME\n{1} \\- {2}\n.SH SYNOPSIS\n{3}",
                  roff(upper), roff(name), roff(command.help), synopsis(command));
  if (command.name == program) {
    text += ".SH COMMANDS\n";
    for (const CommandLine& below : command.commands) {
      text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(dashed(below.name)), roff(below.help));
    }
  }
  text += ".SH OPTIONS\n" + entries(command);
  if (command.name != program) {
    for (const CommandLine* below : all_commands(command)) {
      if (below == &command) continue;
      text += fmt::format(".SH \"{}\"\n{}\n.PP\n{}{}", roff(below->name), roff(below->help),
                          synopsis(*below), entries(*below));
    }
  }
  text += ".SH EXIT STATUS\n0: done. 1: the work failed. 2: the call was wrong.\n";
  if (command.name != program) text += fmt::format(".SH SEE ALSO\n.BR {} (1)\n", roff(program));
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> man_pages(const CommandLine& program) {
  std::vector<std::pair<std::string, std::string>> pages = {
      {dashed(program.name) + ".1", page(program, program.name)}};
  for (const CommandLine& command : program.commands) {
    pages.emplace_back(dashed(command.name) + ".1", page(command, program.name));
  }
  return pages;
}

}  // namespace orrery
