#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace orrery {

// `orrery transient analyse`: the published measurements of transient training.
struct TransientAnalyseArguments {
  std::vector<std::string> folders{};
  std::string csv{};  // files to write; empty: none
  std::string report{};
  std::string prices{};  // empty: those of February 2019, which come along
};
Status transient_analyse_command(const TransientAnalyseArguments& arguments);

struct TransientArguments {
  TransientAnalyseArguments analyse{};
};

// Adds the group `transient`; the command that is chosen puts what it does into `run`.
void add_transient(CLI::App& app, TransientArguments& arguments, std::function<Status()>& run);

}  // namespace orrery
