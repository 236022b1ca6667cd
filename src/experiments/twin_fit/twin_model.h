#pragma once

#include <string>

#include "base/result.h"
#include "training/twin/twin.h"

namespace orrery {

// What a model takes to train and how it learns, for `orrery twin`: docs/formats/twin.md.
struct TwinModel {
  TwinWorker worker{.fixed_s = 0.01, .per_sample_s = 0.0044};
  TwinShards shards{};
  double parameter_bytes = 1e6;
  double message_s = 0, sum_work_s = 0;
  double jitter = 0.05;
  ConvergenceModel convergence{};
};

Result<TwinModel> parse_twin_model(const std::string& text, const std::string& place);
std::string twin_model_text(const TwinModel& model);

// A number of workers of a model; what they train with and until when is left open.
TwinSetup twin_setup(const TwinModel& model, int workers);

}  // namespace orrery
