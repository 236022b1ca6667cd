#include "training/colocation/ps_placement.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace orrery {
namespace {

class Placer {
 public:
  Placer(std::span<const Load> needs, std::span<const PsHost> hosts)
      : needs_(needs), hosts_(hosts), host_of_(needs.size(), -1) {
    for (const PsHost& host : hosts) held_.push_back(host.held);
  }

  PsPlacement place() {
    std::vector<int> order(needs_.size());
    std::iota(order.begin(), order.end(), 0);
    Load all;
    for (const PsHost& host : hosts_) all += host.capacity;
    std::ranges::stable_sort(order, std::greater<>(), [&](int ps) {
      return needs_[static_cast<std::size_t>(ps)].utilisation(all);
    });
    for (const int ps : order) put_where_best(static_cast<std::size_t>(ps));
    // Every improvement makes the sorted list of utilisations smaller, so this ends; the bound is
    // for the hair by which doubles may differ.
    std::size_t steps = 100 * needs_.size() * hosts_.size();
    while (steps-- > 0 && (move_one() || exchange_two())) {
    }
    PsPlacement placement{.host_of = host_of_};
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
      placement.utilisation_most = std::max(placement.utilisation_most, utilisation(h));
    }
    return placement;
  }

 private:
  // Lower is better: how full the fullest of the two hosts is, then the other, then the slowdown
  // cost.
  using Rank = std::tuple<double, double, double>;

  double utilisation(std::size_t host) const {
    return held_[host].utilisation(hosts_[host].capacity);
  }

  void put_where_best(std::size_t ps) {
    std::size_t best = 0;
    auto best_rank = std::tuple(1e300, 1e300);
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
      const double full = (held_[h] + needs_[ps]).utilisation(hosts_[h].capacity);
      const auto rank = std::tuple(full, hosts_[h].slowdown_cost);
      if (rank < best_rank) std::tie(best, best_rank) = std::tuple(h, rank);
    }
    host_of_[ps] = static_cast<int>(best);
    held_[best] += needs_[ps];
  }

  Rank rank(std::size_t a, std::size_t b, double slowdown_cost) const {
    return {std::max(utilisation(a), utilisation(b)), std::min(utilisation(a), utilisation(b)),
            slowdown_cost};
  }
  static bool better(const Rank& now, const Rank& before) {
    constexpr double kHair = 1e-9;
    if (std::get<0>(now) < std::get<0>(before) - kHair) return true;
    if (std::get<0>(now) > std::get<0>(before) + kHair) return false;
    if (std::get<1>(now) < std::get<1>(before) - kHair) return true;
    if (std::get<1>(now) > std::get<1>(before) + kHair) return false;
    return std::get<2>(now) < std::get<2>(before) - kHair;
  }

  void shift(std::size_t ps, std::size_t from, std::size_t to) {
    held_[from] -= needs_[ps];
    held_[to] += needs_[ps];
    host_of_[ps] = static_cast<int>(to);
  }

  bool move_one() {
    for (std::size_t ps = 0; ps < needs_.size(); ++ps) {
      const auto from = static_cast<std::size_t>(host_of_[ps]);
      for (std::size_t to = 0; to < hosts_.size(); ++to) {
        if (to == from) continue;
        const Rank before = rank(from, to, hosts_[from].slowdown_cost);
        shift(ps, from, to);
        if (better(rank(from, to, hosts_[to].slowdown_cost), before)) return true;
        shift(ps, to, from);
      }
    }
    return false;
  }

  bool exchange_two() {
    for (std::size_t p = 0; p < needs_.size(); ++p) {
      for (std::size_t q = p + 1; q < needs_.size(); ++q) {
        const auto a = static_cast<std::size_t>(host_of_[p]);
        const auto b = static_cast<std::size_t>(host_of_[q]);
        if (a == b) continue;
        const Rank before = rank(a, b, 0);
        shift(p, a, b);
        shift(q, b, a);
        if (better(rank(a, b, 0), before)) return true;
        shift(p, b, a);
        shift(q, a, b);
      }
    }
    return false;
  }

  std::span<const Load> needs_;
  std::span<const PsHost> hosts_;
  std::vector<int> host_of_;
  std::vector<Load> held_;
};

}  // namespace

std::optional<PsPlacement> place_parameter_servers(std::span<const Load> needs,
                                                   std::span<const PsHost> hosts) {
  if (hosts.empty()) return std::nullopt;
  return Placer(needs, hosts).place();
}

}  // namespace orrery
