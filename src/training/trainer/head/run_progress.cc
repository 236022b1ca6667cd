#include "training/trainer/head/run_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/duration_text.h"

namespace orrery {

void RunProgress::begin(std::int64_t samples, double elapsed_s) {
  samples_first_ = samples;
  elapsed_first_s_ = elapsed_s;
}

void RunProgress::gradient(double loss) {
  constexpr double kNew = 0.05;
  if (!std::isfinite(loss)) return;
  loss_ = loss_ ? *loss_ + kNew * (loss - *loss_) : loss;
}

std::optional<double> RunProgress::left_s(std::int64_t samples, double elapsed_s) const {
  std::optional<double> left;
  const double passed_s = elapsed_s - elapsed_first_s_;
  if (goal_.samples > 0 && samples > samples_first_ && passed_s > 0) {
    const double rest = std::max(0.0, static_cast<double>(goal_.samples - samples));
    left = rest * passed_s / static_cast<double>(samples - samples_first_);
  }
  if (goal_.time_s > 0) {
    const double rest_s = std::max(0.0, goal_.time_s - elapsed_s);
    left = left ? std::min(*left, rest_s) : rest_s;
  }
  return left;
}

ProgressState RunProgress::at(std::int64_t samples, double elapsed_s) const {
  ProgressState state{.left_s = left_s(samples, elapsed_s),
                      .loss = loss_,
                      .accuracy = accuracy_,
                      .target = goal_.accuracy};
  if (goal_.samples <= 0 && goal_.time_s <= 0) return state;
  double share = goal_.time_s > 0 ? elapsed_s / goal_.time_s : 0;
  if (goal_.samples > 0) {
    share = std::max(share, static_cast<double>(samples) / static_cast<double>(goal_.samples));
  }
  state.share = std::clamp(share, 0.0, 1.0);
  return state;
}

std::string progress_text(const ProgressState& state) {
  std::string text = state.share ? fmt::format("{:.0f} %, ", *state.share * 100) : "";
  text += fmt::format("{}, {} updates", state.mode, state.updates);
  if (state.loss) text += fmt::format(", loss {:.4g}", *state.loss);
  if (state.accuracy) text += fmt::format(", accuracy {:.3f}", *state.accuracy);
  if (state.target > 0) {
    text += state.accuracy ? fmt::format(" of {}", state.target)
                           : fmt::format(", no accuracy yet of {}", state.target);
  }
  constexpr double kLongest_s = 1e9;
  if (state.left_s)
    text +=
        fmt::format(", {} left", two_unit_text(from_seconds(std::min(*state.left_s, kLongest_s))));
  return text;
}

}  // namespace orrery
