#include "training/sync/rate.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace orrery {

double RateRule::at(std::int64_t samples_done, int workers_now, int workers_first) const {
  double rate = base;
  if (samples_done < warm_up_samples) {
    rate *= static_cast<double>(samples_done) / static_cast<double>(warm_up_samples);
  }
  for (const Step& step : steps) {
    if (samples_done >= step.after_samples) rate *= step.factor;
  }
  const int meant_for = workers > 0 ? workers : std::max(1, workers_first);
  const double growth = static_cast<double>(std::max(1, workers_now)) / meant_for;
  if (scaling == RateScaling::Linear) rate *= growth;
  if (scaling == RateScaling::SquareRoot) rate *= std::sqrt(growth);
  return rate;
}

Result<RateScaling> parse_rate_scaling(std::string_view text) {
  if (text == "none") return RateScaling::None;
  if (text == "linear") return RateScaling::Linear;
  if (text == "sqrt") return RateScaling::SquareRoot;
  return invalid("no learning-rate rule '" + std::string(text) + "': none, linear or sqrt");
}

}  // namespace orrery
