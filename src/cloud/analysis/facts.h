#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "cloud/analysis/rates.h"
#include "cloud/measurements/published_data.h"

namespace orrery {

// Of a list of values. Deviations of the population and of a sample.
struct Spread {
  std::size_t count = 0;
  double mean = 0;
  double deviation_all = 0;
  double deviation_sample = 0;
  double least = 0;
  double most = 0;
};
// All 0 for no values; the deviation of one sample is 0.
Spread spread_of(const std::vector<double>& values);

// One run with what its servers did.
struct RunFacts {
  const EvaluatedRun* run = nullptr;
  std::optional<EvaluatedResult> measured{};  // from its evaluations; nothing: it did not finish
  std::vector<double> revoked_s{};            // uptimes of revoked workers, ascending
  bool master_revoked = false;
  std::optional<double> master_uptime_s{};
  // Each server at its rate for the training's time, or its uptime if it was revoked, and the
  // parameter servers for the training's time. After the authors' process_cost. Nothing without a
  // duration.
  std::optional<double> cost_usd{};

  bool completed() const { return run->published.has_value() && measured.has_value(); }
};

// A configuration with its runs in the order of the files.
struct ConfigFacts {
  const MeasuredTraining* training = nullptr;
  std::vector<RunFacts> runs{};
  double rate_usd_s = 0;  // of the whole cluster
  Spread duration_s{};    // of completed runs, as all below
  Spread accuracy{};
  Spread cost_nominal{};  // the whole cluster for the whole time
  Spread cost_file{};     // cost.csv; count 0: there is none
  Spread measured_s{};    // durations from the evaluations

  const TrainingSetup& setup() const { return training->setup; }
  const std::string& config() const { return training->folder.config; }
  double steps_per_s() const { return kTrainingSteps / duration_s.mean; }
};

// Facts of each configuration, in the order of the data, which must outlive them.
std::vector<ConfigFacts> facts_of(const PublishedData& data, const Rates& rates);
const ConfigFacts* find_config(const std::vector<ConfigFacts>& all, std::string_view config);

}  // namespace orrery
