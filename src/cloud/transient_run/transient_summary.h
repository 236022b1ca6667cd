#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

// What a job on servers that come and go came to.
struct TransientSummary {
  std::string job{};
  std::string failure{};   // empty: none
  std::string ended{};     // why
  double training_s = 0;   // since the first task, on the wall clock
  double hours = 0;        // from the first request to the end, on the provider's clock
  std::int64_t steps = 0;  // gradients that were used, each once
  std::optional<double> accuracy{}, time_to_target_s{};
  int servers = 0;
  int revocations = 0;
  std::int64_t chiefs = 0;  // epochs of the lease
  int from_shards = 0;      // takeovers in which nothing was lost
  int from_checkpoint = 0;  // returns to a checkpoint
  std::int64_t checkpoints = 0;
  std::int64_t membership_epochs = 0;
  std::optional<double> usd{}, on_demand_usd{}, saving_pct{};
  std::string folder{}, ledger{};
};

std::string transient_summary_json(const TransientSummary& summary);
std::string transient_summary_text(const TransientSummary& summary);

}  // namespace orrery
