#pragma once

#include <memory>

#include "scheduling/policy/deadline/scale_up.h"
#include "scheduling/policy/registry.h"

namespace orrery {

// The number of GPUs on which a job is fastest: the largest an elastic policy gives it.
int knee_gpus(const Workload& workload, const JobSpec& job);

// ElasticFlow (ASPLOS '23): deadlines promised at submission, GPU counts that follow.
struct ElasticFlowOptions {
  enum class Admission : std::uint8_t {
    OneByOne,  // each arrival on its own
    Batch,     // all arrivals of a round, or none
    None,      // every job is admitted
  };
  Admission admission = Admission::OneByOne;
  ScaleUp::Rule scale_up = ScaleUp::Rule::SavesMost;
  Duration slot = std::chrono::minutes(1);
  int (*most_gpus)(const Workload& workload, const JobSpec& job) = knee_gpus;
};
// As users write them.
Result<ElasticFlowOptions> elasticflow_options(const Options& options,
                                               const PolicyContext& context);
// A slot in whole seconds: that of the rounds unless it is set.
inline constexpr OptionInfo kSlotOption = {
    "slot", "plans are made in slots of this length; auto: that of the rounds, or 1m", "auto",
    "1m 10m"};
Result<Duration> slot_option(const Options& options, const PolicyContext& context);

// Earliest deadline first, as many GPUs as are of use, with or without admission.
struct EdfOptions {
  bool admits = false;
  Duration slot = std::chrono::minutes(1);
  int (*most_gpus)(const Workload& workload, const JobSpec& job) = knee_gpus;
};

}  // namespace orrery
