#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "report/listing/list_arguments.h"
#include "training/trainer/transport/part.h"

namespace orrery {

struct PredictorArguments {
  std::vector<std::string> folders{};  // of runs
  std::string file{};                  // fit: where it is kept; score: the one to judge, or empty
  double held_out = 0.3;               // the end of each series, which is judged by
  ListArguments list{};
};

// Learns a predictor from logged runs, keeps it in a file, and judges it.
Status predictor_fit_command(const PredictorArguments& arguments, const TrainPorts& ports);

// How well each predictor predicts stragglers, on the end of the series of each run: a table with
// precision, recall and lead.
Status predictor_score_command(const PredictorArguments& arguments, const TrainPorts& ports);

}  // namespace orrery
