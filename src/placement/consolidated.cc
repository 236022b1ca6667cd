#include <algorithm>

#include "placement/rule.h"

namespace orrery {
namespace {

// The reference's `yarn`: first fit in node order; a job larger than a node takes whole idle nodes
// under one switch and its remainder from one more node.
class Consolidated final : public PlacementRule {
 public:
  bool find(const Ledger& free, const Shape& shape, Scope scope, Devices& devices) override {
    if (shape.gpus > free.gpus_free()) return false;
    if (shape.gpus <= free.gpus_per_node_max()) {
      const int node = free.first_fit(0, free.node_count(), shape.gpus, shape);
      if (node < free.node_count()) {
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
  static bool whole_nodes(const Ledger& free, const Shape& shape, int begin, int end,
                          Devices& devices) {
    const auto before = devices.size();
    int left = shape.gpus;
    for (int node = begin; node < end && left > 0; ++node) {
      const int gpus = free.gpus_of(node);
      if (gpus == 0 || gpus > left || !free.idle(node) || !free.fits(node, gpus, shape)) continue;
      devices.push_back({static_cast<NodeId>(node), free.free_mask(node)});
      left -= gpus;
    }
    const auto used = [&](int node) {
      return std::any_of(
          devices.begin() + static_cast<std::ptrdiff_t>(before), devices.end(),
          [&](const NodeShare& share) { return share.node == static_cast<NodeId>(node); });
    };
    for (int node = begin; node < end && left > 0; ++node) {
      if (used(node) || !free.fits(node, left, shape)) continue;
      devices.push_back({static_cast<NodeId>(node), free.lowest_free(node, left)});
      left = 0;
    }
    if (left == 0) return true;
    devices.resize(before);
    return false;
  }
};

}  // namespace

std::unique_ptr<PlacementRule> make_consolidated(std::uint64_t /*seed*/) {
  return std::make_unique<Consolidated>();
}

}  // namespace orrery
