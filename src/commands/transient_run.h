#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace orrery {

// `orrery transient run`: a training on servers of this machine that come and go. What is given
// here goes before what the file says.
struct TransientTrainingArguments {
  std::string model{}, data{}, mode{}, rate_rule{}, time_limit{};
  std::optional<std::int64_t> batch{}, steps{}, seed{}, slots{};
  std::optional<double> rate{}, target{};
};
struct TransientRunArguments {
  std::string file{};  // TOML; empty: all is said here
  std::string folder{};
  std::string ledger{};   // empty: FOLDER/ledger.db
  std::string trainer{};  // empty: orrery-train beside this program
  std::string name{}, prices{}, replacement{};
  std::optional<int> workers{}, parameter_servers{};
  std::vector<std::string> gpus{};   // of chief and workers
  std::vector<std::string> zones{};  // of chief, workers and parameter servers
  std::string evaluator_zone{};
  std::vector<std::string> on_demand{};  // roles
  TransientTrainingArguments training{};
  std::optional<double> compression{};
  std::vector<std::string> lifetimes{}, revocations{}, cores{};
  bool json = false, quiet = false;
};
Status transient_run_command(const TransientRunArguments& arguments);

void add_transient_run(CLI::App& group, std::function<Status()>& run);

}  // namespace orrery
