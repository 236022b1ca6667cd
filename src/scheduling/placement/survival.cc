#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "scheduling/placement/rule.h"

namespace orrery {
namespace {

// A node that is lost this many times as often as the one in the middle is risky.
constexpr double kRisky = 4;

// Nodes that are seldom lost first, for jobs that run long. Other jobs leave these nodes to them,
// but take risky nodes last, too. A job that fits one node is on one. A larger one takes whole idle
// nodes of the zone that is least likely to lose one of them, and its remainder from one more:
// zones are lost together, so a job in one zone meets the losses of that zone only. Nodes of one
// risk are taken in their order.
class Survival final : public PlacementRule {
 public:
  bool find(const Ledger& free, const Shape& shape, Scope scope, Devices& devices) override {
    rank(free);
    const std::vector<int>& order = shape.lasting ? safest_ : for_short_;
    if (shape.gpus <= free.gpus_per_node_max()) {
      const auto fits = [&](int node) { return free.fits(node, shape.gpus, shape); };
      const auto node = std::ranges::find_if(order, fits);
      if (node != order.end()) {
        devices.push_back({static_cast<NodeId>(*node), free.lowest_free(*node, shape.gpus)});
        return true;
      }
      if (scope == Scope::OneSwitch) return false;
    }
    if (scope == Scope::OneSwitch) return in_one_zone(free, shape, order, devices);
    if (whole_nodes(free, shape, order, devices)) return true;
    return scope == Scope::Anywhere && gather(free, shape, order, devices);
  }

  bool scatters() const override { return false; }

 private:
  void rank(const Ledger& free) {
    const std::span<const double> risks = free.losses_per_day();
    if (!safest_.empty() && std::ranges::equal(risks, ranked_)) return;
    ranked_.assign(risks.begin(), risks.end());
    safest_.resize(risks.size());
    std::iota(safest_.begin(), safest_.end(), 0);
    for_short_ = safest_;
    const auto risk = [&](int node) { return ranked_[static_cast<std::size_t>(node)]; };
    std::ranges::stable_sort(safest_, {}, risk);
    const double usual = safest_.empty() ? 0 : risk(safest_[safest_.size() / 2]);
    std::ranges::stable_sort(for_short_, {}, [&](int node) {
      const double one = risk(node);
      return one > kRisky * usual ? std::pair(1, one) : std::pair(0, -one);
    });
  }

  bool in_one_zone(const Ledger& free, const Shape& shape, std::span<const int> order,
                   Devices& devices) {
    double least = 0;
    std::vector<int> nodes;
    Devices best;
    for (int zone = 0; zone < free.zone_count(); ++zone) {
      nodes.clear();
      std::ranges::copy_if(order, std::back_inserter(nodes),
                           [&](int node) { return free.zone_of(node) == zone; });
      Devices here;
      if (!whole_nodes(free, shape, nodes, here)) continue;
      double risk = 0;
      for (const NodeShare& share : here) {
        risk += free.losses_per_day()[index(share.node)];
      }
      if (best.empty() || risk < least) {
        least = risk;
        best = here;
      }
    }
    for (const NodeShare& share : best) devices.push_back(share);
    return !best.empty();
  }

  // Whole idle nodes in this order, and one more node for what is left.
  static bool whole_nodes(const Ledger& free, const Shape& shape, std::span<const int> order,
                          Devices& devices) {
    const std::size_t before = devices.size();
    int left = shape.gpus;
    std::vector<int> others;
    for (const int node : order) {
      const int gpus = free.gpus_of(node);
      const bool whole =
          gpus > 0 && gpus <= left && free.idle(node) && free.fits(node, gpus, shape);
      if (!whole) {
        others.push_back(node);
        continue;
      }
      devices.push_back({static_cast<NodeId>(node), free.free_mask(node)});
      left -= gpus;
    }
    if (left > 0) {
      const auto node =
          std::ranges::find_if(others, [&](int one) { return free.fits(one, left, shape); });
      if (node != others.end()) {
        devices.push_back({static_cast<NodeId>(*node), free.lowest_free(*node, left)});
        left = 0;
      }
    }
    if (left == 0) return true;
    devices.shorten(before);
    return false;
  }

  std::vector<double> ranked_;  // by node: the risk by which they stand in order
  std::vector<int> safest_;
  std::vector<int> for_short_;
};

}  // namespace

std::unique_ptr<PlacementRule> make_survival(std::uint64_t /*seed*/) {
  return std::make_unique<Survival>();
}

}  // namespace orrery
