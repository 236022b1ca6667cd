#include <algorithm>
#include <utility>

#include "scheduling/policy/host/host_moves.h"

namespace orrery {
namespace {

using Asker = HostAllocator::Asker;

// Like tune, but with levels between all and the fair share; jobs go where the cluster as a whole
// becomes fastest, and running jobs move only if that is worth its cost.
class TunePlus final : public HostAllocator {
 public:
  bool weighs_moves() const override { return true; }

  void seat(Hosting& hosting, std::span<const Asker> askers, std::size_t /*same*/) override {
    Ledger& ledger = hosting.ledger();
    nodes_.begin(ledger);
    for (const Asker& asker : askers) {
      if (asker.stays != nullptr && !nodes_.come(asker, *asker.stays)) {
        ledger.release(*asker.stays, asker.gpus);
      }
    }
    for (const Asker& asker : askers) {
      if (asker.stays == nullptr) find_place(ledger, asker);
    }
    make_moves(ledger, nodes_);
    nodes_.settle();
    for (const HostNodes::Request& request : nodes_.requests()) {
      ledger.release(request.devices, request.asker->gpus);
      hosting.sit(request.asker->job, *request.asker->need,
                  with_host(request.asker->gpus, request.held), request.devices);
    }
  }

 private:
  void find_place(Ledger& ledger, const Asker& asker) {
    const int gpus = asker.gpus.gpus;
    if (gpus > ledger.gpus_free()) return;
    const int node = best_node(ledger, asker);
    if (node >= 0) {
      devices_.clear();
      devices_.push_back({static_cast<NodeId>(node), ledger.lowest_free(node, gpus)});
    } else if (!gather(ledger, asker)) {
      return;
    }
    if (nodes_.come(asker, devices_)) ledger.take(devices_, asker.gpus);
  }

  // From several nodes, those with the fewest free GPUs first.
  bool gather(const Ledger& ledger, const Asker& asker) {
    devices_.clear();
    int left = asker.gpus.gpus;
    for (int free = 1; free <= ledger.gpus_per_node_max() && left > 0; ++free) {
      for (int node = 0; node < ledger.node_count() && left > 0; ++node) {
        if (ledger.free_count(node) != free || !ledger.serves(node, asker.gpus)) continue;
        const int count = std::min({left, free, nodes_.floors_for(node, asker)});
        if (count == 0) continue;
        devices_.push_back({static_cast<NodeId>(node), ledger.lowest_free(node, count)});
        left -= count;
      }
    }
    std::ranges::sort(devices_, {}, &NodeShare::node);
    return left == 0;
  }

  // Where it brings most; among equals where the fewest GPUs are free. -1: nowhere.
  int best_node(const Ledger& ledger, const Asker& asker) {
    int best = -1;
    double best_gain = 0;
    bool seen_empty = false;
    for (int node = 0; node < ledger.node_count(); ++node) {
      if (!ledger.fits(node, asker.gpus.gpus, asker.gpus)) continue;
      const bool empty = ledger.idle(node);
      if (empty && std::exchange(seen_empty, true)) continue;
      const double value = nodes_.value_with(node, asker);
      if (value < 0) continue;
      const double gain = value - nodes_.load(node).value;
      const bool better =
          best < 0 || gain > best_gain + kEqual ||
          (gain > best_gain - kEqual && ledger.free_count(node) < ledger.free_count(best));
      if (!better) continue;
      best = node;
      best_gain = gain;
    }
    return best;
  }

  static constexpr double kEqual = 1e-9;
  HostNodes nodes_;
  Devices devices_;
};

}  // namespace

std::unique_ptr<HostAllocator> make_tune_plus() { return std::make_unique<TunePlus>(); }

}  // namespace orrery
