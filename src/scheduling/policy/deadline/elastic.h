#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scheduling/policy/deadline/scale_up.h"
#include "scheduling/policy/policy.h"

namespace orrery {

// The largest number of GPUs an elastic policy gives a job.
struct ElasticLimits {
  // Beyond the first count at which it gets slower; otherwise beyond the count at which it is
  // fastest.
  bool first_fall = false;
  // Models that get at most so many, whatever their curve says.
  struct Cap {
    std::string model;
    int gpus = 0;
  };
  std::vector<Cap> caps;
};
int most_gpus(const Workload& workload, const JobSpec& job, const ElasticLimits& limits);

// ElasticFlow (ASPLOS '23): deadlines promised at submission, GPU counts that follow.
struct ElasticFlowOptions {
  enum class Admission : std::uint8_t {
    OneByOne,  // each arrival on its own
    Batch,     // all arrivals of a round, or none, as released
    None,      // everybody comes in
  };
  Admission admission = Admission::OneByOne;
  ScaleUp::Rule scale_up = ScaleUp::Rule::SavesMost;
  bool anew = false;  // everybody is placed anew in each round, as released
  Duration slot = std::chrono::minutes(1);
  ElasticLimits limits = {};
};
std::unique_ptr<Policy> make_elasticflow(const ElasticFlowOptions& options);

// Earliest deadline first, as many GPUs as are of use, with or without admission.
struct EdfOptions {
  bool admits = false;
  bool late_blocks = false;  // while somebody is late nobody is let in, as released
  bool widest = false;       // as many GPUs as the profile has a column for, even if slower
  bool anew = false;
  Duration slot = std::chrono::minutes(1);
};
std::unique_ptr<Policy> make_edf(const EdfOptions& options);

}  // namespace orrery
