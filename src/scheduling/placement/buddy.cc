#include <algorithm>

#include "scheduling/placement/blocks.h"
#include "scheduling/placement/rule.h"

namespace orrery {
namespace {

// Power-of-two blocks, aligned within a node, out of the smallest free block that will do; whole
// nodes for what is larger, under one switch where that is possible. Jobs of power-of-two sizes
// then never leave a hole that moving smaller ones could not close (move_candidates.h).
class Buddy final : public PlacementRule {
 public:
  bool find(const Ledger& free, const Shape& shape, Scope scope, Devices& devices) override {
    if (shape.gpus > free.gpus_free()) return false;
    if (shape.gpus <= free.gpus_per_node_max()) {
      if (find_block(free, shape, shape.gpus, {}, devices)) return true;
      if (scope == Scope::OneSwitch) return false;
      // No idle node has such a block.
      const int node = free.tightest_fit(0, free.node_count(), shape.gpus, shape);
      if (node < free.node_count()) {
        devices.push_back({static_cast<NodeId>(node), free.lowest_free(node, shape.gpus)});
        return true;
      }
    }
    for (int s = 0; s < free.switch_count(); ++s) {
      if (whole_nodes(free, shape, free.switch_begin(s), free.switch_begin(s + 1), devices)) {
        return true;
      }
    }
    if (whole_nodes(free, shape, 0, free.node_count(), devices)) return true;
    if (scope != Scope::Anywhere) return false;
    return make_first_fit(0)->find(free, shape, scope, devices);
  }

  bool scatters() const override { return false; }

 private:
  static bool whole_nodes(const Ledger& free, const Shape& shape, int begin, int end,
                          Devices& devices) {
    const std::size_t before = devices.size();
    int left = shape.gpus;
    for (int gpus = std::min(left, free.gpus_per_node_max()); gpus > 0; --gpus) {
      for (int node = free.next_with_free(gpus, begin, end); node < end && gpus <= left;
           node = free.next_with_free(gpus, node + 1, end)) {
        if (!free.idle(node) || !free.fits(node, gpus, shape)) continue;
        devices.push_back({static_cast<NodeId>(node), free.free_mask(node)});
        left -= gpus;
      }
    }
    if (left > 0) {
      const std::span<const NodeShare> used(devices.begin() + static_cast<std::ptrdiff_t>(before),
                                            devices.end());
      // The vector may grow while `used` looks into it, so what was found is kept apart.
      const auto block = best_block(free, shape, left, used, begin, end);
      if (block) {
        devices.push_back(*block);
        left = 0;
      }
    }
    if (left == 0) return true;
    devices.shorten(before);
    return false;
  }

  static bool find_block(const Ledger& free, const Shape& shape, int gpus,
                         std::span<const NodeShare> used, Devices& devices) {
    const auto block = best_block(free, shape, gpus, used, 0, free.node_count());
    if (block) devices.push_back(*block);
    return block.has_value();
  }
};

}  // namespace

std::unique_ptr<PlacementRule> make_buddy(std::uint64_t /*seed*/) {
  return std::make_unique<Buddy>();
}

}  // namespace orrery
