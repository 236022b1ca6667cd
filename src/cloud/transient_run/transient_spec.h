#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/decisions/learning_rate.h"
#include "cloud/decisions/replacement.h"
#include "cloud/provider/prices.h"
#include "cloud/provider/server.h"

namespace orrery {

// The servers of one role. A list has a word for each server, or one word for all of them.
struct RoleSpec {
  int count = 0;
  std::vector<std::string> gpus{};   // "": none
  std::vector<std::string> zones{};  // in the order in which the servers are numbered
  bool preemptible = false;
};

// What is trained: options of orrery-train.
struct TrainingSpec {
  std::string model = "mlp", data = "gaussian", mode = "asgd";
  std::int64_t batch = 128;
  double rate = 0.1;
  std::string rate_rule = "inverse-root";  // words of cloud/decisions
  std::int64_t slots = 0;  // of the naive rule; 0: as many as there are workers at the start
  std::int64_t steps = 0;  // gradients; 0: no limit
  double target = 0;       // accuracy; 0: none
  std::string time_limit{};
  std::int64_t evaluate_every = 0;  // samples
  std::int64_t seed = 1;
  std::vector<std::string> arguments{};  // any others
};

// Servers on this machine: how long they live, and how fast their time passes.
struct LocalSpec {
  double compression = 1;
  std::int64_t seed = 1;
  std::string startup_least = "0s", startup_most = "0s";
  std::vector<std::string> lifetimes{};    // "GPU=weibull:0.6,102.9": see docs/formats/transient.md
  std::vector<std::string> revocations{};  // "SERVER@TIME"
  double shocks_per_hour = 0, shock_share = 0.5;
  std::vector<std::string>
      cores{};  // "GPU=0.1": CPU quota of a worker with it; "*": with any other
  std::vector<std::string> capacity{};  // "ZONE=FILE", traces of spot capacity
};

struct TransientSpec {
  std::string name = "job";
  std::string prices{};  // file
  RoleSpec chief{.count = 1, .preemptible = true};
  RoleSpec workers{.count = 1, .preemptible = true};
  RoleSpec parameter_servers{.count = 1};
  RoleSpec evaluator{.count = 1};
  TrainingSpec training{};
  LocalSpec local{};
  std::string replacement = "cheapest";  // words of cloud/decisions
  double usd_per_hour_of_time = 0;
  std::map<std::string, double> speeds{};  // of GPUs beside each other; others are not asked for
  std::string checkpoint_most = "1h";      // longest time between checkpoints, of the provider
};

// docs/formats/transient.md. `name` stands in messages.
Result<TransientSpec> parse_transient_spec(std::string_view name, std::string_view text);
Result<TransientSpec> read_transient_spec(const std::string& path);

// Each GPU goes to the chief or a worker, each zone to the chief, a worker or a parameter server,
// in this order; a single one goes to all of them. Errors name the server that lacks an entry.
Status assign_gpus(const std::vector<std::string>& gpus, TransientSpec& spec);
Status assign_zones(const std::vector<std::string>& zones, TransientSpec& spec);

// A server of the cluster as it begins, in the order chief, workers, parameter servers, evaluator.
struct ServerPlace {
  std::string role;  // "chief", "worker", "ps", "evaluator"
  int index = 0;     // within its role; workers count from 1, since the chief is worker 0
  Offer offer;
};
// Errors name the role and the server that lacks an entry, and an offer without a price.
Result<std::vector<ServerPlace>> server_places(const TransientSpec& spec, const PriceList& prices);

}  // namespace orrery
