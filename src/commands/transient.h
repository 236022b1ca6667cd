#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "commands/transient_run.h"
#include "report/listing/list_arguments.h"

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
  ListArguments list{};  // no form: a summary for people
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
  ListArguments list{};
};
Status transient_plan_command(const TransientPlanArguments& arguments);

// `orrery transient ledger`: jobs on transient servers and what they cost.
struct TransientLedgerArguments {
  std::string file{};
  std::string job{};     // empty: all
  bool servers = false;  // True for a row a server
  ListArguments list{};
  bool csv = false;      // the same as csv for `list.output`
  std::string import{};  // a published database that is added first
  std::string gpu{};     // what such a database does not say
  std::string offer_class = "spot";
  std::string prices{};
};
Status transient_ledger_command(const TransientLedgerArguments& arguments);

// The servers of a job that begins, and what is known of them.
struct TransientClusterArguments {
  std::string prices{};                             // empty: those of February 2019
  std::vector<std::string> gpus = {"K80"};          // one a worker, or one for all
  std::vector<std::string> zones = {"us-west1-b"};  // the same
  int workers = 4;
  int servers = 1;
  std::string server_zone{};          // empty: that of the chief
  std::vector<std::string> speeds{};  // GPU=steps a second
  std::string lifetimes{};            // lifetime.csv; empty: the published fits
};

// `orrery transient simulate`: replacement policies compared over many seeds.
struct TransientSimulateArguments {
  TransientClusterArguments cluster{};
  double steps = 1e6;
  std::vector<std::string> policies{};  // empty: all
  int runs = 1000;
  std::uint64_t seed = 1;  // the first
  std::string chief = "take-over";
  std::string save = "4s";  // durations
  std::string checkpoint = "auto";
  std::string startup = "80s";
  std::string join = "79s";
  double shocks_per_day = 0;
  double shock_share = 0.5;
  double time_value = 0;  // USD an hour
  std::string report{};
  bool json = false;
};
Status transient_simulate_command(const TransientSimulateArguments& arguments);

// Adds the group `transient`; the command that is chosen puts what it does into `run`.
void add_transient(CLI::App& app, std::function<Status()>& run);

}  // namespace orrery
