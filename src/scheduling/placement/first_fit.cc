#include <algorithm>

#include "scheduling/placement/rule.h"

namespace orrery {
namespace {

// Locality does not count: any free GPUs will do, so a job waits only if there are too few.
class FirstFit final : public PlacementRule {
 public:
  bool find(const Ledger& free, const Shape& shape, Scope /*scope*/, Devices& devices) override {
    if (shape.gpus > free.gpus_free()) return false;
    const auto before = devices.size();
    int left = shape.gpus;
    const int end = free.node_count();
    for (int node = free.first_fit(0, end, 1, shape); node < end;
         node = free.first_fit(node + 1, end, 1, shape)) {
      const int count = std::min(left, free.gpus_fitting(node, shape));
      if (count == 0) continue;
      devices.push_back({static_cast<NodeId>(node), free.lowest_free(node, count)});
      left -= count;
      if (left == 0) return true;
    }
    devices.shorten(before);
    return false;
  }
};

}  // namespace

std::unique_ptr<PlacementRule> make_first_fit(std::uint64_t /*seed*/) {
  return std::make_unique<FirstFit>();
}

}  // namespace orrery
