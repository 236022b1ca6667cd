#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "cloud/measurements/cm_dare.h"
#include "model/time.h"

namespace orrery {

// How long a checkpoint takes to be saved: a part for each, and a part for each MB.
struct CheckpointTime {
  double fixed_s = 0;
  double per_mb_s = 0;

  double seconds_for(double size_mb) const { return fixed_s + per_mb_s * size_mb; }
};
Result<CheckpointTime> fit_checkpoint_time(std::span<const CheckpointSample> samples);

// Mean error in per cent of a model for each network that was fitted without that network.
Result<double> checkpoint_error_pct(std::span<const CheckpointSample> samples);

// From the request of a server until it can be used, by GPU and class. Draws whole measured
// start-ups, so that their parts belong together.
class StartupTimes {
 public:
  explicit StartupTimes(std::span<const StartupTable> tables);

  struct Summary {
    double mean_s = 0;
    double deviation_s = 0;  // of a sample
    std::size_t samples = 0;
  };

  // A GPU that was not measured has the start-ups of all that were. NotFound: nothing was measured.
  Result<StartupSample> sample(std::string_view gpu, bool preemptible, Random& random) const;
  Result<Summary> summary(std::string_view gpu, bool preemptible) const;

 private:
  Result<std::vector<StartupSample>> samples_of(std::string_view gpu, bool preemptible) const;

  std::map<std::pair<std::string, bool>, std::vector<StartupSample>, std::less<>> samples_;
};

}  // namespace orrery
