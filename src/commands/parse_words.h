#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace CLI {
class App;
}

namespace orrery {

// Parses the words of the command line. The exit code if the program ends with that: help was
// asked for, or the call was wrong, which is then said on standard error. An unknown option is
// named before anything else that is wrong, since it is often the reason for the rest.
std::optional<int> parse_words(CLI::App& app, std::span<char*> words);

// The help of the command with these names, outermost first; without names, of the program.
Result<std::string> help_text(CLI::App& app, std::span<const std::string> names);

}  // namespace orrery
