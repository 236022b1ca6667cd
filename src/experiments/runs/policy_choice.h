#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace orrery {

// A policy as the command line names it: NAME or NAME:key=value:key=value...
struct PolicyChoice {
  std::string name;
  std::string label;
  std::map<std::string, std::string> options;
};

// `options` are key=value pairs; each goes to every policy that knows its key and has no value of
// its own for it. One that nobody knows is an error.
Result<std::vector<PolicyChoice>> parse_policies(std::span<const std::string> texts,
                                                 std::span<const std::string> options);

// "key=value"
Result<std::pair<std::string, std::string>> split_pair(const std::string& pair);

}  // namespace orrery
