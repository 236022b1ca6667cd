#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery {

inline constexpr std::int64_t kWorkersMost = 1'000'000;
inline constexpr std::int64_t kStagesMost = 10'000;

// How a job is divided, as a meta file says.
struct TrainingShape {
  std::string experiment;
  int run = 0;
  int workers = 1;            // dp_size
  int stages = 1;             // pp_size
  int tensor_parallel = 1;    // tp_size
  int sequence_parallel = 1;  // dsp_size
  int chunks_of_stage = 1;    // vpp_size
  std::int64_t world = 1;     // ranks in all
};

// A meta file: lines of `key: value`, which is what the published ones hold. No other YAML.
Result<TrainingShape> parse_training_shape(const std::string& name, std::string_view text);

}  // namespace orrery
