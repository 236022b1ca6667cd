#include <algorithm>
#include <utility>

#include "policy/host_rooms.h"

namespace orrery {
namespace {

using Asker = HostAllocator::Asker;

HostShare sum(const HostShare& a, const HostShare& b) {
  return {a.cpu_milli + b.cpu_milli, a.memory_bytes + b.memory_bytes};
}
bool offers_more(const HostShare& offer, const HostShare& held) {
  return offer.cpu_milli > held.cpu_milli || offer.memory_bytes > held.memory_bytes;
}

// Like tune, but with levels between all and the fair share; jobs go where the cluster as a whole
// becomes fastest, and those who run move only if that pays.
class TunePlus final : public HostAllocator {
 public:
  void seat(Hosting& hosting, std::span<const Asker> askers) override {
    Ledger& ledger = hosting.ledger();
    rooms_.begin(ledger);
    for (const Asker& asker : askers) {
      if (asker.stays != nullptr && !rooms_.come(asker, *asker.stays, 1)) {
        ledger.release(*asker.stays, asker.gpus);
      }
    }
    for (const Asker& asker : askers) {
      if (asker.stays == nullptr) find_room(ledger, asker);
    }
    improve(ledger);
    rooms_.settle();
    for (const HostRooms::Guest& guest : rooms_.guests()) {
      Shape shape = guest.asker->gpus;
      ledger.release(guest.devices, shape);
      shape.cpu_milli = guest.held.cpu_milli;
      shape.memory_bytes = guest.held.memory_bytes;
      hosting.sit(guest.asker->job, *guest.asker->need, shape, guest.devices);
    }
  }

 private:
  void find_room(Ledger& ledger, const Asker& asker) {
    const int gpus = asker.gpus.gpus;
    if (gpus > ledger.gpus_free()) return;
    const int node = best_node(ledger, asker);
    if (node >= 0) {
      devices_.clear();
      devices_.push_back({static_cast<NodeId>(node), ledger.lowest_free(node, gpus)});
    } else if (!find_gathered(ledger, asker.gpus, devices_)) {
      return;
    }
    if (rooms_.come(asker, devices_, 1)) ledger.take(devices_, asker.gpus);
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
      const double value = rooms_.value_with(node, asker, 1);
      if (value < 0) continue;
      const double gain = value - rooms_.room(node).value;
      const bool better =
          best < 0 || gain > best_gain + kEqual ||
          (gain > best_gain - kEqual && ledger.free_count(node) < ledger.free_count(best));
      if (!better) continue;
      best = node;
      best_gain = gain;
    }
    return best;
  }

  struct Change {
    double worth_s = 0;  // GPU seconds of work won, less what is lost by moving
    int guest = 0;
    int node = 0;
    int other = HostRooms::kNobody;
  };

  // Each who would be faster elsewhere goes where that is worth most.
  void improve(Ledger& ledger) {
    for (std::size_t guest = 0; guest < rooms_.guests().size(); ++guest) {
      Change best;
      consider(ledger, static_cast<int>(guest), best);
      if (best.worth_s > 0) apply(ledger, best);
    }
  }

  double moving_costs(const HostRooms::Guest& guest) const {
    if (guest.asker->stays == nullptr) return 0;
    return guest.asker->start_s * guest.asker->gpus.gpus * guest.levels->floor().speed;
  }

  void consider(const Ledger& ledger, int guest, Change& best) {
    const HostRooms::Guest& who = rooms_.guests()[static_cast<std::size_t>(guest)];
    if (!who.on_one_node() || !who.hungry) return;
    const int home = who.node();
    const int gpus = who.asker->gpus.gpus;
    const double left_s = std::min(who.asker->left_s, kAhead_s);
    const double home_value = rooms_.room(home).value;
    const double home_without = rooms_.value_with(home, guest, HostRooms::kNobody);
    for (int node = 0; node < rooms_.room_count(); ++node) {
      if (node == home) continue;
      const HostRooms::Room& there = rooms_.room(node);
      const auto judge = [&](int other, double value, double cost) {
        const double worth = (value - home_value - there.value) * left_s - kMargin * cost;
        if (worth > best.worth_s + 1e-6) best = {worth, guest, node, other};
      };
      if (offers_more(there.rest, who.held) && ledger.fits(node, gpus, who.asker->gpus)) {
        judge(HostRooms::kNobody, home_without + rooms_.value_with(node, HostRooms::kNobody, guest),
              moving_costs(who));
      }
      const HostLevels* seen = nullptr;
      for (const int other : there.guests) {
        const HostRooms::Guest& whom = rooms_.guests()[static_cast<std::size_t>(other)];
        if (whom.asker->gpus.gpus != gpus || whom.levels == who.levels || whom.levels == seen)
          continue;
        if (whom.asker->gpus != who.asker->gpus) continue;
        seen = whom.levels;
        if (!offers_more(sum(there.rest, whom.held), who.held)) continue;
        judge(other, rooms_.value_with(home, guest, other) + rooms_.value_with(node, other, guest),
              moving_costs(who) + moving_costs(whom));
      }
    }
  }

  void apply(Ledger& ledger, const Change& change) {
    const Asker& asker = *rooms_.guests()[static_cast<std::size_t>(change.guest)].asker;
    const Devices home = rooms_.guests()[static_cast<std::size_t>(change.guest)].devices;
    rooms_.leave(change.guest);
    Devices there;
    if (change.other == HostRooms::kNobody) {
      ledger.release(home, asker.gpus);
      there.push_back(
          {static_cast<NodeId>(change.node), ledger.lowest_free(change.node, asker.gpus.gpus)});
      ledger.take(there, asker.gpus);
    } else {
      there = rooms_.guests()[static_cast<std::size_t>(change.other)].devices;
      rooms_.leave(change.other);
      rooms_.come_back(change.other, home);
    }
    rooms_.come_back(change.guest, there);
  }

  // Ours, measured by bench/host_bench: others will come and go before long, and a move that
  // hardly pays is not worth the trouble.
  static constexpr double kAhead_s = 600;
  static constexpr double kMargin = 3;
  static constexpr double kEqual = 1e-9;
  HostRooms rooms_;
  Devices devices_;
};

}  // namespace

std::unique_ptr<HostAllocator> make_tune_plus() { return std::make_unique<TunePlus>(); }

}  // namespace orrery
