#include <numeric>
#include <utility>
#include <vector>

#include "base/random.h"
#include "scheduling/placement/rule.h"

namespace orrery {
namespace {

// The baseline without any idea: nodes in a random order, each giving what it can.
class RandomFit final : public PlacementRule {
 public:
  explicit RandomFit(std::uint64_t seed) : random_(seed) {}

  bool find(const Ledger& free, const Shape& shape, Scope /*scope*/, Devices& devices) override {
    if (shape.gpus > free.gpus_free()) return false;
    nodes_.resize(static_cast<std::size_t>(free.node_count()));
    std::iota(nodes_.begin(), nodes_.end(), 0);
    for (std::size_t i = nodes_.size(); i > 1; --i) {
      const auto other = random_.between(0, static_cast<std::int64_t>(i) - 1);
      std::swap(nodes_[i - 1], nodes_[static_cast<std::size_t>(other)]);
    }
    return gather(free, shape, nodes_, devices);
  }

 private:
  Random random_;
  std::vector<int> nodes_;
};

}  // namespace

std::unique_ptr<PlacementRule> make_random_fit(std::uint64_t seed) {
  return std::make_unique<RandomFit>(seed);
}

}  // namespace orrery
