#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

#include "scheduling/policy/host/host_one_by_one.h"

namespace orrery {
namespace {

class Tune final : public OneByOne {
 public:
  using OneByOne::OneByOne;

 private:
  bool seat(Hosting& hosting, const Asker& asker) override {
    const HostNeed& need = *asker.need;
    if (sit(hosting, asker, need.ideal)) return true;
    if (need.wants_more() && sit(hosting, asker, need.minimum)) return true;
    reclaim(hosting, asker, with_host(asker.gpus, need.minimum));
    return sit(hosting, asker, need.minimum);
  }

  struct Spot {
    int node = 0;
    int gpus = 0;
  };

  void reclaim(Hosting& hosting, const Asker& asker, const Shape& shape) {
    choose_spots(hosting.ledger(), asker);
    for (const Spot& spot : spots_) take_back(hosting, spot, shape);
  }

  // By GPUs alone: the first node with enough of them, or else those with the fewest.
  void choose_spots(const Ledger& ledger, const Asker& asker) {
    spots_.clear();
    if (asker.stays != nullptr) {
      for (const NodeShare& share : *asker.stays) {
        spots_.push_back({static_cast<int>(share.node), std::popcount(share.gpus)});
      }
      return;
    }
    const int end = ledger.node_count();
    int left = asker.gpus.gpus;
    if (left > 1) {
      const int node = ledger.next_with_at_least(left, 0, end);
      if (node < end) {
        spots_.push_back({node, left});
        return;
      }
    }
    for (int free = 1; free <= ledger.gpus_per_node_max() && left > 0; ++free) {
      for (int node = ledger.next_with_free(free, 0, end); node < end && left > 0;
           node = ledger.next_with_free(free, node + 1, end)) {
        spots_.push_back({node, std::min(free, left)});
        left -= spots_.back().gpus;
      }
    }
  }

  // The job that takes most goes first, as long as something is missing.
  void take_back(Hosting& hosting, const Spot& spot, const Shape& shape) {
    const Ledger& ledger = hosting.ledger();
    const std::int64_t cpu_milli = share_of(shape.cpu_milli, spot.gpus, shape.gpus);
    const std::int64_t memory_bytes = share_of(shape.memory_bytes, spot.gpus, shape.gpus);
    const auto enough = [&] {
      return ledger.free_cpu_milli(spot.node) >= cpu_milli &&
             ledger.free_memory_bytes(spot.node) >= memory_bytes;
    };
    if (enough()) return;
    hosting.sort_on_node(spot.node, [&](std::uint32_t index) {
      const Hosting::Seat& seat = hosting.seat(index);
      const double gpus = seat.shape.gpus;
      return std::tuple(seat.devices.size(), -static_cast<double>(seat.shape.cpu_milli) / gpus,
                        -static_cast<double>(seat.shape.memory_bytes) / gpus);
    });
    for (const std::uint32_t index : hosting.on_node(spot.node)) {
      const Hosting::Seat& seat = hosting.seat(index);
      // One that wants less of something than its fair share would take that instead.
      if (!within(seat.need->minimum, seat.held())) continue;
      hosting.change(index, seat.need->minimum);
      if (enough()) return;
    }
    share_fairly(hosting, spot.node);
  }

  // The last resort, if there is as much: every job that holds more of one and less of the other
  // has exactly their fair share.
  static void share_fairly(Hosting& hosting, int node) {
    const Ledger& ledger = hosting.ledger();
    HostShare left{ledger.free_cpu_milli(node), ledger.free_memory_bytes(node)};
    const auto is_uneven = [&](std::uint32_t index) {
      const Hosting::Seat& seat = hosting.seat(index);
      return seat.devices.size() == 1 && !within(seat.need->minimum, seat.held());
    };
    for (const std::uint32_t index : hosting.on_node(node)) {
      if (!is_uneven(index)) continue;
      const Hosting::Seat& seat = hosting.seat(index);
      left.cpu_milli += seat.held().cpu_milli - seat.need->minimum.cpu_milli;
      left.memory_bytes += seat.held().memory_bytes - seat.need->minimum.memory_bytes;
    }
    if (!within({}, left)) return;
    for (const std::uint32_t index : hosting.on_node(node)) {
      if (is_uneven(index)) hosting.change(index, hosting.seat(index).need->minimum);
    }
  }

  std::vector<Spot> spots_;
};

}  // namespace

std::unique_ptr<HostAllocator> make_tune(FindDevices find) { return std::make_unique<Tune>(find); }

}  // namespace orrery
