#include <algorithm>

#include "scheduling/placement/rule.h"

namespace orrery {
namespace {

// First fit in node order; a job larger than a node takes whole idle nodes under one switch and its
// remainder from one more node.
class Consolidated final : public PlacementRule {
 public:
  bool find(const Ledger& free, const Shape& shape, Scope scope, Devices& devices) override {
    if (shape.gpus <= free.gpus_per_node_max()) {
      const int end = free.node_count();
      const int node = free.first_fit(0, end, shape.gpus, shape);
      if (node < end) {
        devices.push_back({static_cast<NodeId>(node), free.lowest_free(node, shape.gpus)});
        return true;
      }
      if (scope == Scope::OneSwitch) return false;
    }
    if (scope == Scope::OneSwitch) {
      for (int s = 0; s < free.switch_count(); ++s) {
        if (whole_nodes(free, shape, free.switch_begin(s), free.switch_begin(s + 1), devices)) {
          return true;
        }
      }
      return false;
    }
    if (whole_nodes(free, shape, 0, free.node_count(), devices)) return true;
    if (scope == Scope::WholeCluster) return false;
    return make_first_fit(0)->find(free, shape, scope, devices);
  }

  bool scatters() const override { return false; }

 private:
  // Whole idle nodes, large ones first, and one more node for what is left.
  static bool whole_nodes(const Ledger& free, const Shape& shape, int begin, int end,
                          Devices& devices) {
    const auto before = static_cast<std::ptrdiff_t>(devices.size());
    int left = shape.gpus;
    for (int gpus = std::min(left, free.gpus_per_node_max()); gpus > 0; --gpus) {
      for (int node = free.next_with_free(gpus, begin, end); node < end && gpus <= left;
           node = free.next_with_free(gpus, node + 1, end)) {
        if (!free.idle(node) || !free.fits(node, gpus, shape)) continue;
        devices.push_back({static_cast<NodeId>(node), free.free_mask(node)});
        left -= gpus;
      }
    }
    const auto used = [&](int node) {
      return std::any_of(devices.begin() + before, devices.end(), [&](const NodeShare& share) {
        return share.node == static_cast<NodeId>(node);
      });
    };
    if (left > 0) {
      int node = free.first_fit(begin, end, left, shape);
      while (node < end && used(node)) node = free.first_fit(node + 1, end, left, shape);
      if (node < end) {
        devices.push_back({static_cast<NodeId>(node), free.lowest_free(node, left)});
        left = 0;
      }
    }
    if (left == 0) return true;
    devices.shorten(static_cast<std::size_t>(before));
    return false;
  }
};

}  // namespace

std::unique_ptr<PlacementRule> make_consolidated(std::uint64_t /*seed*/) {
  return std::make_unique<Consolidated>();
}

}  // namespace orrery
