// Any bytes as a sweep file: an error that names the file, or a plan whose points are on its axes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "experiments/sweep/sweep_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto spec =
      orrery::parse_sweep("input", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!spec.ok()) {
    if (spec.error().message.rfind("input:", 0) != 0) std::abort();
    return 0;
  }
  double points = 0;
  for (const auto& grid : spec.value().grids) {
    double product = 1;
    for (const auto& choice : grid) product *= static_cast<double>(choice.values.size());
    points += product;
  }
  if (points > 200) return 0;  // right, but slow
  const auto plan = orrery::plan_sweep(spec.value());
  if (!plan.ok()) return 0;
  for (const auto& point : plan.value().points) {
    if (point.values.size() != plan.value().axes.size()) std::abort();
    for (std::size_t axis = 0; axis < point.values.size(); ++axis) {
      const bool known = point.values[axis] < plan.value().axes[axis].values.size();
      if (!known && point.values[axis] != orrery::kNoValue) std::abort();
    }
  }
  for (const auto& baseline : plan.value().baseline_of) {
    if (baseline && *baseline >= plan.value().points.size()) std::abort();
  }
  return 0;
}
