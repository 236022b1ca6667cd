#include <algorithm>
#include <numeric>
#include <vector>

#include "scheduling/placement/rule.h"

namespace orrery {
namespace {

// Leaves the large holes whole: the fullest node on which the job fits; a job too large for any
// node takes the emptiest ones, so that it spans few.
class BestFit final : public PlacementRule {
 public:
  bool find(const Ledger& free, const Shape& shape, Scope /*scope*/, Devices& devices) override {
    if (shape.gpus > free.gpus_free()) return false;
    const int end = free.node_count();
    const int node = free.tightest_fit(0, end, shape.gpus, shape);
    if (node < end) {
      devices.push_back({static_cast<NodeId>(node), free.lowest_free(node, shape.gpus)});
      return true;
    }
    nodes_.resize(static_cast<std::size_t>(end));
    std::iota(nodes_.begin(), nodes_.end(), 0);
    std::ranges::stable_sort(nodes_, std::ranges::greater{},
                             [&](int n) { return free.gpus_fitting(n, shape); });
    return gather(free, shape, nodes_, devices);
  }

 private:
  std::vector<int> nodes_;
};

}  // namespace

std::unique_ptr<PlacementRule> make_best_fit(std::uint64_t /*seed*/) {
  return std::make_unique<BestFit>();
}

}  // namespace orrery
