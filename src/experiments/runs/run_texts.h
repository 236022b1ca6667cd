#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/run_description.h"

// The texts of a command line that describe a run.

namespace orrery {

// A policy as the command line names it: NAME or NAME:key=value:key=value...
struct NamedPolicy {
  ChosenPolicy policy;
  std::string label;  // the text
};

// `options` are key=value pairs; each goes to every policy that knows its key and has no value of
// its own for it. One that no policy knows is an error.
Result<std::vector<NamedPolicy>> parse_policies(std::span<const std::string> texts,
                                                std::span<const std::string> options);

// A duration; empty: rounds are held at once.
Result<Duration> parse_round(const std::string& text);

// A-B: the jobs A <= id < B; empty: all jobs.
Result<std::optional<JobWindow>> parse_window(const std::string& text);

// "key=value"
Result<std::pair<std::string, std::string>> split_pair(const std::string& pair);

}  // namespace orrery
