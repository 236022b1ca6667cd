#include "scheduling/policy/host/host_levels.h"

#include <limits>

namespace orrery {

HostLevels host_levels(const HostAllocator::Asker& asker) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  const HostNeed& need = *asker.need;
  HostLevels result;
  result.sensitivity = asker.sensitivity;
  result.gpus = asker.gpus.gpus;
  if (asker.sensitivity == nullptr) result.asked = need.fair;
  const auto cells = cells_of(asker, {kAny, kAny}, need.fair_speed);
  const auto level = [&](const HostCell& cell) {
    return HostLevels::Level{
        {cell.share.cpu_milli / result.gpus, cell.share.memory_bytes / result.gpus}, cell.speed};
  };
  result.levels.push_back(level(cells[static_cast<std::size_t>(minimum_cell(cells, need.fair))]));
  for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell) {
    if (cell->speed > result.floor().speed) result.levels.push_back(level(*cell));
  }
  return result;
}

}  // namespace orrery
