#include "scheduling/policy/host/host_moves.h"

#include <algorithm>

namespace orrery {
namespace {

using Guest = HostRooms::Guest;
constexpr int kNobody = HostRooms::kNobody;

// Ours, measured by bench/host_bench: others will come and go before long, and a move that hardly
// pays is not worth the trouble.
constexpr double kAhead_s = 600;
constexpr double kMargin = 3;

struct Move {
  double worth_s = 0;  // GPU seconds of work won, less what is lost by moving
  int guest = 0;
  int node = 0;
  int other = kNobody;  // comes in exchange
};

HostShare sum(const HostShare& a, const HostShare& b) {
  return {a.cpu_milli + b.cpu_milli, a.memory_bytes + b.memory_bytes};
}
bool offers_more(const HostShare& offer, const HostShare& held) {
  return offer.cpu_milli > held.cpu_milli || offer.memory_bytes > held.memory_bytes;
}

double cost_s(const Guest& guest) {
  if (guest.asker->stays == nullptr) return 0;
  return guest.asker->start_s * guest.asker->gpus.gpus * guest.levels->floor().speed;
}

class Mover {
 public:
  Mover(Ledger& ledger, HostRooms& rooms) : ledger_(ledger), rooms_(rooms) {}

  // The best for this guest; worth nothing if there is none.
  Move find(int guest) {
    best_ = {.worth_s = 0, .guest = guest};
    if (!at(guest).on_one_node() || !at(guest).hungry) return best_;
    const double without = rooms_.value_with(at(guest).node(), guest, kNobody);
    for (int node = 0; node < rooms_.room_count(); ++node) {
      if (node == at(guest).node()) continue;
      try_free_gpus(guest, node, without);
      try_exchanges(guest, node);
    }
    return best_;
  }

  void make(const Move& move) {
    const Shape& gpus = at(move.guest).asker->gpus;
    const Devices home = at(move.guest).devices;
    rooms_.leave(move.guest);
    Devices there;
    if (move.other == kNobody) {
      ledger_.release(home, gpus);
      there.push_back({static_cast<NodeId>(move.node), ledger_.lowest_free(move.node, gpus.gpus)});
      ledger_.take(there, gpus);
    } else {
      there = at(move.other).devices;
      rooms_.leave(move.other);
      rooms_.come_back(move.other, home);
    }
    rooms_.come_back(move.guest, there);
  }

 private:
  const Guest& at(int guest) const { return rooms_.guests()[static_cast<std::size_t>(guest)]; }

  void try_free_gpus(int guest, int node, double home_value) {
    const Guest& who = at(guest);
    const bool fits = offers_more(rooms_.room(node).rest, who.held) &&
                      ledger_.fits(node, who.asker->gpus.gpus, who.asker->gpus);
    if (!fits) return;
    judge(guest, node, kNobody, home_value, rooms_.value_with(node, kNobody, guest), cost_s(who));
  }

  // With one of each kind that is there, as long as it fits where the guest comes from.
  void try_exchanges(int guest, int node) {
    const Guest& who = at(guest);
    const HostLevels* tried = nullptr;
    for (const int other : rooms_.room(node).guests) {
      const Guest& whom = at(other);
      if (whom.levels == who.levels || whom.levels == tried) continue;
      if (whom.asker->gpus != who.asker->gpus) continue;
      tried = whom.levels;
      if (!offers_more(sum(rooms_.room(node).rest, whom.held), who.held)) continue;
      judge(guest, node, other, rooms_.value_with(who.node(), guest, other),
            rooms_.value_with(node, other, guest), cost_s(who) + cost_s(whom));
    }
  }

  void judge(int guest, int node, int other, double home_value, double value, double cost) {
    if (home_value < 0 || value < 0) return;
    const double before = rooms_.room(at(guest).node()).value + rooms_.room(node).value;
    const double ahead_s = std::min(at(guest).asker->left_s, kAhead_s);
    const double worth_s = (home_value + value - before) * ahead_s - kMargin * cost;
    constexpr double kNoise_s = 1e-6;
    if (worth_s > best_.worth_s + kNoise_s) best_ = {worth_s, guest, node, other};
  }

  Ledger& ledger_;
  HostRooms& rooms_;
  Move best_;
};

}  // namespace

void make_moves_that_pay(Ledger& ledger, HostRooms& rooms) {
  Mover mover(ledger, rooms);
  for (std::size_t guest = 0; guest < rooms.guests().size(); ++guest) {
    const Move move = mover.find(static_cast<int>(guest));
    if (move.worth_s > 0) mover.make(move);
  }
}

}  // namespace orrery
