#include "training/colocation/pairing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "algorithms/matching/blossom.h"

namespace orrery {

double interleaving_efficiency(const Rhythm& a, const Rhythm& b) {
  const double cycle = std::max(a.busy_s, b.other_s) + std::max(a.other_s, b.busy_s);
  const double work = a.busy_s + a.other_s + b.busy_s + b.other_s;
  return cycle > 0 ? work / (2 * cycle) : 0;
}

std::vector<std::pair<int, int>> pair_up(std::span<const Rhythm> all,
                                         const PairingOptions& options) {
  const int n = static_cast<int>(all.size());
  std::vector<std::int64_t> weights(all.size() * all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      const int servers = all[i].parameter_server + all[j].parameter_server;
      const bool may = servers == 1 || (servers == 0 && options.workers_with_workers);
      if (!may || all[i].job == all[j].job) continue;
      const double efficiency = interleaving_efficiency(all[i], all[j]);
      if (efficiency < options.efficiency_least) continue;
      weights[i * all.size() + j] = std::llround(efficiency * 1e6);
    }
  }
  std::vector<int> kinds(all.size());
  std::iota(kinds.begin(), kinds.end(), 0);
  Blossom blossom;
  const std::span<const int> partner = blossom.match(kinds, weights, n);
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < n; ++i) {
    const int other = partner[static_cast<std::size_t>(i)];
    if (other > i) pairs.emplace_back(i, other);
  }
  return pairs;
}

}  // namespace orrery
