#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "training/mode_selection/scoring/selector.h"

namespace orrery {

struct ModeNetworkOptions {
  int hidden = 32;
  int steps = 800;  // of Adam, over everything there is
  double rate = 5e-3;
  double held_out = 0.3;  // the newest share, kept for judging; 0: none, and it is not judged
  std::uint64_t seed = 1;
};

// The learned selector's regression: a network of two hidden layers on features scaled to mean 0
// and deviation 1. fit() learns from the older samples and judges itself by the newer ones, then
// learns from all; it needs at least kLeastSamples.
class ModeNetwork : public ModeRegression {
 public:
  static constexpr std::size_t kLeastSamples = 20;

  // Mean absolute error on what was held out at the last fit, and that of always saying the mean;
  // both 0 if nothing was.
  virtual double held_out_error() const = 0;
  virtual double held_out_error_of_mean() const = 0;
  virtual Status save(const std::string& path) const = 0;
};

// For a network that is fitted while a run waits for it, and judged by its caller: a twelfth
// of the work, about 40 ms for 200 windows.
inline constexpr ModeNetworkOptions kOnLineModeNetwork{.steps = 130, .rate = 2e-2, .held_out = 0};

std::unique_ptr<ModeNetwork> make_mode_network(const ModeNetworkOptions& options = {});
Result<std::unique_ptr<ModeNetwork>> load_mode_network(const std::string& path);

}  // namespace orrery
