#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "commands/commands.h"
#include "experiments/sweep/sweep_spec.h"

namespace orrery {

struct SweepArguments {
  std::string file{};  // a sweep file; empty: the sweep is `run` and `axes`
  // Traces, clusters, policies, options and how traces are read. One cluster for all traces, or one
  // for each.
  SimulateArguments run{};
  std::string seeds{};                  // 1-25 or 1,2,3
  std::vector<std::string> axes{};      // NAME=VALUE,VALUE...
  std::vector<std::string> baseline{};  // NAME=VALUE
  std::string out{};                    // folder; empty: by the name of the file
  bool resume = false;
};
Status sweep_command(const SweepArguments& arguments);

// The sweep that the options of a command line say.
Result<SweepSpec> sweep_of_options(const SweepArguments& arguments);

}  // namespace orrery
