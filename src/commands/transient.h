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

// `orrery transient ledger`: jobs on transient servers and what they cost.
struct TransientLedgerArguments {
  std::string file{};
  std::string job{};     // empty: all
  bool servers = false;  // True for a row a server
  bool json = false;
  bool csv = false;
  std::string import{};  // a published database that is added first
  std::string gpu{};     // what such a database does not say
  std::string offer_class = "spot";
  std::string prices{};
};
Status transient_ledger_command(const TransientLedgerArguments& arguments);

// `orrery transient simulate`: replacement policies compared over many seeds.
struct TransientSimulateArguments {
  std::string prices{};                             // empty: those of February 2019
  std::vector<std::string> gpus = {"K80"};          // one a worker, or one for all
  std::vector<std::string> zones = {"us-west1-b"};  // the same
  int workers = 4;
  int servers = 1;
  std::string server_zone{};  // empty: that of the chief
  double steps = 1e6;
  std::vector<std::string> speeds{};    // GPU=steps a second
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
  double time_value = 0;    // USD an hour
  std::string lifetimes{};  // lifetime.csv; empty: the published fits
  std::string report{};
  bool json = false;
};
Status transient_simulate_command(const TransientSimulateArguments& arguments);

struct TransientArguments {
  TransientLedgerArguments ledger{};
  TransientSimulateArguments simulate{};
};

// Adds the group `transient`; the command that is chosen puts what it does into `run`.
void add_transient(CLI::App& app, TransientArguments& arguments, std::function<Status()>& run);

}  // namespace orrery
