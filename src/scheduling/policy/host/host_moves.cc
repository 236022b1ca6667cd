#include "scheduling/policy/host/host_moves.h"

#include <algorithm>

namespace orrery {
namespace {

using Request = HostNodes::Request;
constexpr int kNone = HostNodes::kNone;

// Ours, measured by bench/host_bench: others will come and go before long, and a move that hardly
// gains is not worth the trouble.
constexpr double kHorizon_s = 600;
constexpr double kMargin = 3;

struct Move {
  double worth_s = 0;  // GPU seconds of work won, less what is lost by moving
  int request = 0;
  int node = 0;
  int other = kNone;  // comes in exchange
};

HostShare sum(const HostShare& a, const HostShare& b) {
  return {a.cpu_milli + b.cpu_milli, a.memory_bytes + b.memory_bytes};
}
bool offers_more(const HostShare& offer, const HostShare& held) {
  return offer.cpu_milli > held.cpu_milli || offer.memory_bytes > held.memory_bytes;
}

double cost_s(const Request& request) {
  if (request.asker->stays == nullptr) return 0;
  return request.asker->start_s * request.asker->gpus.gpus * request.levels->floor().speed;
}

class Mover {
 public:
  Mover(Ledger& ledger, HostNodes& nodes) : ledger_(ledger), nodes_(nodes) {}

  // The best for this request; worth nothing if there is none.
  Move find(int request) {
    best_ = {.worth_s = 0, .request = request};
    if (!at(request).on_one_node() || !at(request).below_fastest) return best_;
    const double without = nodes_.value_with(at(request).node(), request, kNone);
    for (int node = 0; node < nodes_.count(); ++node) {
      if (node == at(request).node()) continue;
      try_free_gpus(request, node, without);
      try_exchanges(request, node);
    }
    return best_;
  }

  void make(const Move& move) {
    const Shape& gpus = at(move.request).asker->gpus;
    const Devices home = at(move.request).devices;
    nodes_.leave(move.request);
    Devices there;
    if (move.other == kNone) {
      ledger_.release(home, gpus);
      there.push_back({static_cast<NodeId>(move.node), ledger_.lowest_free(move.node, gpus.gpus)});
      ledger_.take(there, gpus);
    } else {
      there = at(move.other).devices;
      nodes_.leave(move.other);
      nodes_.come_back(move.other, home);
    }
    nodes_.come_back(move.request, there);
  }

 private:
  const Request& at(int request) const {
    return nodes_.requests()[static_cast<std::size_t>(request)];
  }

  void try_free_gpus(int request, int node, double home_value) {
    const Request& first = at(request);
    const bool fits = offers_more(nodes_.load(node).rest, first.held) &&
                      ledger_.fits(node, first.asker->gpus.gpus, first.asker->gpus);
    if (!fits) return;
    judge(request, node, kNone, home_value, nodes_.value_with(node, kNone, request), cost_s(first));
  }

  // With one of each kind that is there, as long as it fits where the request comes from.
  void try_exchanges(int request, int node) {
    const Request& first = at(request);
    const HostLevels* tried = nullptr;
    for (const int other : nodes_.load(node).requests) {
      const Request& second = at(other);
      if (second.levels == first.levels || second.levels == tried) continue;
      if (second.asker->gpus != first.asker->gpus) continue;
      tried = second.levels;
      if (!offers_more(sum(nodes_.load(node).rest, second.held), first.held)) continue;
      judge(request, node, other, nodes_.value_with(first.node(), request, other),
            nodes_.value_with(node, other, request), cost_s(first) + cost_s(second));
    }
  }

  void judge(int request, int node, int other, double home_value, double value, double cost) {
    if (home_value < 0 || value < 0) return;
    const double before = nodes_.load(at(request).node()).value + nodes_.load(node).value;
    const double horizon_s = std::min(at(request).asker->left_s, kHorizon_s);
    const double worth_s = (home_value + value - before) * horizon_s - kMargin * cost;
    constexpr double kNoise_s = 1e-6;
    if (worth_s > best_.worth_s + kNoise_s) best_ = {worth_s, request, node, other};
  }

  Ledger& ledger_;
  HostNodes& nodes_;
  Move best_;
};

}  // namespace

void make_moves(Ledger& ledger, HostNodes& nodes) {
  Mover mover(ledger, nodes);
  for (std::size_t request = 0; request < nodes.requests().size(); ++request) {
    const Move move = mover.find(static_cast<int>(request));
    if (move.worth_s > 0) mover.make(move);
  }
}

}  // namespace orrery
