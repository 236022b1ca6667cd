#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/mode_selection/tree/tree_director.h"
#include "training/sync/conductor.h"
#include "training/trainer/checkpoint/checkpoint.h"
#include "training/trainer/head/director_choice.h"

namespace orrery {

// From one start of all processes to the next one. What leads the training, and the model's shape
// once the evaluator has reported it.
struct TrainingSession {
  std::int64_t number = 0;
  std::unique_ptr<Conductor> conductor{};
  const ReasoningDirector* director = nullptr;  // the Conductor's
  TreeDirector* trees = nullptr;                // within it; null: there are none
  std::optional<Checkpoint> from{};
  std::vector<TensorPlace> tensors{};
  std::int64_t parameter_count = 0;
  std::vector<float> first_parameters{};
  std::int64_t samples_used = 0;
  std::string mode_name{};
  std::int64_t batches_reported = 0;  // to the scheduler
};

}  // namespace orrery
