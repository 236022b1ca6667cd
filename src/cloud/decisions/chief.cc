#include "cloud/decisions/chief.h"

#include <tuple>

namespace orrery {

std::optional<std::size_t> choose_chief(std::span<const ChiefCandidate> members, Time now,
                                        Duration window) {
  using Rank = std::tuple<bool, double, int>;
  std::optional<std::size_t> best;
  Rank best_rank;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Server& server = *members[i].server;
    if (!is_up(server)) continue;
    const Lifetime* const lifetime = members[i].lifetime;
    const double hazard =
        lifetime != nullptr ? lifetime->hazard_per_h(now - server.requested, window) : 0;
    const Rank rank{server.state == ServerState::Noticed, hazard, server.spec.index};
    if (best && !(rank < best_rank)) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

}  // namespace orrery
