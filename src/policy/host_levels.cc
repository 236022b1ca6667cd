#include "policy/host_levels.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace orrery {
namespace {

using Level = HostLevels::Level;

// What is left of the points when those are gone that cost no less than another and are no faster.
void drop_the_dominated(std::vector<Level>& levels) {
  std::ranges::stable_sort(levels, [](const Level& a, const Level& b) {
    return std::tuple(-a.speed, a.host.cpu_milli, a.host.memory_bytes) <
           std::tuple(-b.speed, b.host.cpu_milli, b.host.memory_bytes);
  });
  std::vector<Level> kept;
  // From the slowest to the fastest, so that whoever is dominated finds the one who does it.
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool dominated = std::any_of(levels.begin(), levels.end(), [&](const Level& other) {
      return &other != &levels[i] && other.speed >= levels[i].speed &&
             within(other.host, levels[i].host) &&
             (other.speed > levels[i].speed || other.host != levels[i].host);
    });
    if (!dominated) kept.push_back(levels[i]);
  }
  std::ranges::reverse(kept);
  levels = std::move(kept);
}

}  // namespace

HostLevels host_levels(const Sensitivity* sensitivity, const HostNeed& need, int gpus) {
  HostLevels result;
  result.sensitivity = sensitivity;
  const HostShare fair{need.fair.cpu_milli / gpus, need.fair.memory_bytes / gpus};
  if (sensitivity == nullptr || need.fair == HostShare{}) {
    result.levels.push_back({fair, need.fair_speed});
    result.asked = need.fair;
    result.gpus = gpus;
    return result;
  }
  const double fair_speed = speed_with(*sensitivity, fair, 1);
  Level floor{fair, fair_speed};
  const std::size_t columns = sensitivity->memory_bytes.size();
  for (std::size_t i = 0; i < sensitivity->speed.size(); ++i) {
    const Level level{{sensitivity->cpu_milli[i / columns], sensitivity->memory_bytes[i % columns]},
                      sensitivity->speed[i]};
    if (level.speed > fair_speed) result.levels.push_back(level);
    if (level.speed >= fair_speed && within(level.host, floor.host)) floor = level;
  }
  result.levels.push_back(floor);
  drop_the_dominated(result.levels);
  const auto place = std::ranges::find(result.levels, floor.host, &Level::host);
  result.levels.erase(result.levels.begin(), place);
  return result;
}

}  // namespace orrery
