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
  return rate * factor(workers_now, workers_first);
}

double RateRule::factor(int workers_now, int workers_first) const {
  const int meant_for = workers > 0 ? workers : std::max(1, workers_first);
  const double present = std::max(1, workers_now);
  switch (scaling) {
    case RateScaling::None:
      return 1;
    case RateScaling::Linear:
      return present / meant_for;
    case RateScaling::SquareRoot:
      return std::sqrt(present / meant_for);
    case RateScaling::InverseSquareRoot:
      return 1 / std::sqrt(present);
  }
  return 1;
}

Result<RateScaling> parse_rate_scaling(std::string_view text) {
  if (text == "none") return RateScaling::None;
  if (text == "linear") return RateScaling::Linear;
  if (text == "sqrt") return RateScaling::SquareRoot;
  if (text == "inverse-sqrt") return RateScaling::InverseSquareRoot;
  return invalid("no learning-rate rule '" + std::string(text) +
                 "': none, linear, sqrt or inverse-sqrt");
}

}  // namespace orrery
