#include "model/sensitivity.h"

#include <algorithm>
#include <cstddef>

namespace orrery {
namespace {

// Where a value lies among the points: at `left` and `part` of the way to the next.
struct Position {
  std::size_t left = 0;
  double part = 0;
};

Position position(const std::vector<std::int64_t>& points, double value) {
  if (value <= static_cast<double>(points.front())) return {};
  if (value >= static_cast<double>(points.back())) return {points.size() - 1, 0};
  const auto right = std::ranges::upper_bound(
      points, value, {}, [](std::int64_t point) { return static_cast<double>(point); });
  const auto low = static_cast<double>(*(right - 1));
  return {static_cast<std::size_t>(right - points.begin()) - 1,
          (value - low) / (static_cast<double>(*right) - low)};
}

double between(double low, double high, double part) { return low + (high - low) * part; }

}  // namespace

double speed_with(const Sensitivity& sensitivity, const HostShare& held, int gpus) {
  const Position cpu = position(sensitivity.cpu_milli, static_cast<double>(held.cpu_milli) / gpus);
  const Position memory =
      position(sensitivity.memory_bytes, static_cast<double>(held.memory_bytes) / gpus);
  const auto in_row = [&](std::size_t row) {
    const double* speed = sensitivity.speed.data() + row * sensitivity.memory_bytes.size();
    const double low = speed[memory.left];
    return memory.part == 0 ? low : between(low, speed[memory.left + 1], memory.part);
  };
  const double low = in_row(cpu.left);
  return cpu.part == 0 ? low : between(low, in_row(cpu.left + 1), cpu.part);
}

HostShare knee(const Sensitivity& sensitivity, double part) {
  const double enough = part * std::ranges::max(sensitivity.speed);
  const auto first =
      std::ranges::find_if(sensitivity.speed, [&](double speed) { return speed >= enough; });
  const auto at = static_cast<std::size_t>(first - sensitivity.speed.begin());
  const std::size_t columns = sensitivity.memory_bytes.size();
  return {sensitivity.cpu_milli[at / columns], sensitivity.memory_bytes[at % columns]};
}

}  // namespace orrery
