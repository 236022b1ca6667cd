#include "scheduling/policy/host/host_cells.h"

#include <algorithm>
#include <tuple>

namespace orrery {
namespace {

double part(std::int64_t amount, std::int64_t of) {
  return of == 0 ? 0 : static_cast<double>(amount) / static_cast<double>(of);
}

}  // namespace

int minimum_cell(std::span<const HostCell> cells, const HostShare& fair) {
  int best = 0;
  double least = 3;  // above what any within the fair share needs
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const HostShare& share = cells[i].share;
    if (!within(share, fair)) continue;
    const double needs =
        part(share.cpu_milli, fair.cpu_milli) + part(share.memory_bytes, fair.memory_bytes);
    if (needs >= least) continue;
    least = needs;
    best = static_cast<int>(i);
  }
  return best;
}

std::vector<HostCell> cells_of(const HostAllocator::Asker& asker, const HostShare& most,
                               double slowest) {
  const HostNeed& need = *asker.need;
  if (asker.sensitivity == nullptr || need.fair == HostShare{}) return {{need.fair, 1}};
  const Sensitivity& sensitivity = *asker.sensitivity;
  const int gpus = asker.gpus.gpus;
  std::vector<HostCell> all;
  const auto add = [&](const HostShare& share) {
    const double speed = speed_with(sensitivity, share, gpus);
    if (speed >= slowest) all.push_back({share, speed});
  };
  add(need.fair);
  for (const std::int64_t cpu_milli : sensitivity.cpu_milli) {
    for (const std::int64_t memory_bytes : sensitivity.memory_bytes) {
      add(lesser(times({cpu_milli, memory_bytes}, gpus), most));
    }
  }
  std::ranges::sort(all, {}, [](const HostCell& cell) {
    return std::tuple(-cell.speed, cell.share.cpu_milli, cell.share.memory_bytes);
  });
  std::vector<HostCell> kept;
  for (const HostCell& cell : all) {
    const bool dominated = std::ranges::any_of(
        kept, [&](const HostCell& other) { return within(other.share, cell.share); });
    if (!dominated) kept.push_back(cell);
  }
  return kept;
}

HostCapacity capacity_in(const Ledger& ledger) {
  HostCapacity capacity;
  capacity.gpus_largest = ledger.gpus_per_node_max();
  for (int node = 0; node < ledger.node_count(); ++node) {
    if (ledger.gpus_of(node) == 0) continue;
    const HostShare free{ledger.free_cpu_milli(node), ledger.free_memory_bytes(node)};
    capacity.total += free;
    capacity.largest.cpu_milli = std::max(capacity.largest.cpu_milli, free.cpu_milli);
    capacity.largest.memory_bytes = std::max(capacity.largest.memory_bytes, free.memory_bytes);
  }
  return capacity;
}

void HostKinds::begin(const HostCapacity& capacity) {
  capacity_ = capacity;
  kinds_.clear();
}

int HostKinds::find(const HostAllocator::Asker& asker) {
  const auto known =
      std::ranges::find_if(kinds_, [&](const HostKind& kind) { return kind.holds(asker); });
  if (known != kinds_.end()) return static_cast<int>(known - kinds_.begin());
  HostKind kind{.sensitivity = asker.sensitivity,
                .fair = asker.need->fair,
                .fair_speed = asker.need->fair_speed,
                .gpus = asker.gpus.gpus,
                .cells = {},
                .minimum = 0};
  const bool spans = kind.gpus > capacity_.gpus_largest;
  kind.cells = cells_of(asker, spans ? kind.fair : capacity_.largest, kind.fair_speed);
  kind.minimum = minimum_cell(kind.cells, kind.fair);
  kinds_.push_back(std::move(kind));
  return static_cast<int>(kinds_.size()) - 1;
}

}  // namespace orrery
