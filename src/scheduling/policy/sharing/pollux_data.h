#pragma once

#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scheduling/prediction/goodput.h"

namespace orrery {

// What Pollux' artifact measured of training: a folder for each model, with the tables
// placements.csv, scalability.csv and one validation-BATCH.csv for each batch size. Other columns
// than those named in docs/formats/pollux-data.md are passed over.
struct TrainingData {
  std::vector<StepTime> steps;
  std::map<int, std::vector<Goodput::Epoch>> epochs;  // by batch size
};

Result<std::map<std::string, TrainingData>> read_training_data(const std::string& folder);

// The tables, for tests; `name` stands where the path would in messages.
Result<std::vector<StepTime>> parse_placements(std::string_view name, std::istream& in);
Result<std::vector<StepTime>> parse_scalability(std::string_view name, std::istream& in);
Result<std::vector<Goodput::Epoch>> parse_validation(std::string_view name, std::istream& in);

Goodput goodput_of(const TrainingData& data);

}  // namespace orrery
