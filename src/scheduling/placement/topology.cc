#include <algorithm>
#include <numeric>
#include <vector>

#include "scheduling/placement/rule.h"

namespace orrery {
namespace {

// Few switches before few nodes before a tight fit: a job stays inside one node if it can, else
// under the fullest switch on which all of it fits, else it starts from the emptiest switches.
class Topology final : public PlacementRule {
 public:
  bool find(const Ledger& free, const Shape& shape, Scope /*scope*/, Devices& devices) override {
    if (shape.gpus > free.gpus_free()) return false;
    const int end = free.node_count();
    const int node = free.tightest_fit(0, end, shape.gpus, shape);
    if (node < end) {
      devices.push_back({static_cast<NodeId>(node), free.lowest_free(node, shape.gpus)});
      return true;
    }
    fitting_.assign(static_cast<std::size_t>(free.switch_count()), 0);
    for (int n = 0; n < end; ++n) {
      fitting_[static_cast<std::size_t>(free.switch_of(n))] += free.gpus_fitting(n, shape);
    }
    int tightest = -1;
    for (int s = 0; s < free.switch_count(); ++s) {
      if (fitting_on(s) >= shape.gpus && (tightest < 0 || fitting_on(s) < fitting_on(tightest)))
        tightest = s;
    }
    nodes_.resize(static_cast<std::size_t>(end));
    std::iota(nodes_.begin(), nodes_.end(), 0);
    std::ranges::stable_sort(nodes_, [&](int a, int b) {
      const int sa = free.switch_of(a);
      const int sb = free.switch_of(b);
      if (sa != sb) {
        if (sa == tightest || sb == tightest) return sa == tightest;
        return fitting_on(sa) != fitting_on(sb) ? fitting_on(sa) > fitting_on(sb) : sa < sb;
      }
      return free.gpus_fitting(a, shape) > free.gpus_fitting(b, shape);
    });
    return gather(free, shape, nodes_, devices);
  }

 private:
  int fitting_on(int s) const { return fitting_[static_cast<std::size_t>(s)]; }

  std::vector<int> fitting_;
  std::vector<int> nodes_;
};

}  // namespace

std::unique_ptr<PlacementRule> make_topology(std::uint64_t /*seed*/) {
  return std::make_unique<Topology>();
}

}  // namespace orrery
