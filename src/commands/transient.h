#pragma once

#include <cstdint>
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

// `orrery transient plan`: policies for a deadline over spot traces, beside the offline optimum.
struct TransientPlanArguments {
  std::vector<std::string> traces{};    // a file a zone
  std::vector<std::string> policies{};  // empty: all
  std::string work{};                   // durations
  std::vector<std::string> deadlines{};
  std::vector<std::string> changeovers{};
  std::vector<std::uint64_t> starts = {0};  // ticks
  int starts_spread = 0;                    // above 0: as many starts, evenly over the traces
  int machines = 1;                         // that a zone must have
  double on_demand_price = 1;               // an hour
  double spot_price = 1.0 / 3;
  std::uint64_t seed = 0;
  bool json = false;
};
Status transient_plan_command(const TransientPlanArguments& arguments);

struct TransientArguments {
  TransientAnalyseArguments analyse{};
  TransientPlanArguments plan{};
};

// Adds the group `transient`; the command that is chosen puts what it does into `run`.
void add_transient(CLI::App& app, TransientArguments& arguments, std::function<Status()>& run);

}  // namespace orrery
