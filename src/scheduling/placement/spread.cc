#include <algorithm>
#include <vector>

#include "scheduling/placement/rule.h"

namespace orrery {
namespace {

// Evens out the load: each GPU comes from the node that can give most at that moment.
class Spread final : public PlacementRule {
 public:
  bool find(const Ledger& free, const Shape& shape, Scope /*scope*/, Devices& devices) override {
    if (shape.gpus > free.gpus_free()) return false;
    counts_.clear();
    int most_total = 0;
    for (int node = 0; node < free.node_count(); ++node) {
      const int most = free.gpus_fitting(node, shape);
      if (most > 0) counts_.push_back({node, most, 0});
      most_total += most;
    }
    if (most_total < shape.gpus) return false;
    // Taking one GPU at a time from the emptiest node ends with every node filled down to one
    // water level or, one GPU each in node order, one below it.
    for (int taken = 0; taken < shape.gpus; ++taken) {
      const auto emptiest = std::ranges::max_element(
          counts_, {}, [](const Count& count) { return count.most - count.taken; });
      ++emptiest->taken;
    }
    for (const Count& count : counts_) {
      if (count.taken == 0) continue;
      devices.push_back(
          {static_cast<NodeId>(count.node), free.lowest_free(count.node, count.taken)});
    }
    return true;
  }

 private:
  struct Count {
    int node;
    int most;
    int taken;
  };
  std::vector<Count> counts_;
};

}  // namespace

std::unique_ptr<PlacementRule> make_spread(std::uint64_t /*seed*/) {
  return std::make_unique<Spread>();
}

}  // namespace orrery
