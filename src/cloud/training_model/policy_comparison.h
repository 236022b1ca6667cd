#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/training_model/transient_training.h"

namespace orrery {

// A replacement policy with the cluster that it begins with.
struct ComparedPolicy {
  std::string name;
  ReplacementRule replacement{};
  std::vector<Offer> workers;  // the first is the chief
};

// Least, quantiles and mean of one figure over runs.
struct Spread {
  double mean = 0;
  double p10 = 0;
  double median = 0;
  double p90 = 0;
};

struct PolicyResult {
  std::string name;
  std::vector<TransientOutcome> runs;  // one a seed, in their order
  int finished = 0;
  Spread time_s{};  // from the first request to the end, of those that finished
  Spread usd{};     // of the same
  // What all runs cost, those that failed too, for each that finished; infinite if none did.
  double usd_per_finished = 0;
  double losses = 0;  // means over all runs
  double replacements = 0;
  double roll_backs = 0;
  double steps_lost = 0;
};

// Each policy meets the same luck under the same seed. The world's seed is not used.
Result<std::vector<PolicyResult>> compare_replacements(const TransientTraining& training,
                                                       const ServerWorld& world,
                                                       std::span<const ComparedPolicy> policies,
                                                       std::span<const std::uint64_t> seeds);

// "all-on-demand", and each word of replacement_rules() on the spot cluster of `training`. The
// first is left out if the price of an on-demand machine is not known. Of `words`, if there are
// any; an unknown word is InvalidArgument.
Result<std::vector<ComparedPolicy>> compared_policies(const TransientTraining& training,
                                                      std::span<const Offer> offers,
                                                      std::span<const std::string> words);

// The policies that no other beats in both mean time and cost of a finished run, by time.
std::vector<std::size_t> best_tradeoffs(std::span<const PolicyResult> results);

}  // namespace orrery
