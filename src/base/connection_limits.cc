#include "base/connection_limits.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace orrery {
namespace {

using Use = OpenConnection::Use;

// Of one peer: the one that is worth least, or nothing where all are worth more than `most`.
std::optional<std::size_t> least_of(std::span<const OpenConnection> open, std::uint64_t peer,
                                    Use most) {
  std::optional<std::size_t> least;
  const auto worth = [&](std::size_t i) { return std::tuple(open[i].use, open[i].since); };
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (open[i].peer != peer || open[i].use > most) continue;
    if (!least || worth(i) < worth(*least)) least = i;
  }
  return least;
}

ConnectionAdmission in_place_of(std::optional<std::size_t> ends) {
  return {.admitted = ends.has_value(), .ends = ends};
}

}  // namespace

ConnectionAdmission admit(std::span<const OpenConnection> open, std::uint64_t peer, bool privileged,
                          const ConnectionLimits& limits) {
  const Use most = privileged ? Use::Fresh : Use::Parked;
  const auto own = static_cast<std::size_t>(std::count_if(
      open.begin(), open.end(), [&](const OpenConnection& one) { return one.peer == peer; }));
  if (own >= limits.per_peer) return in_place_of(least_of(open, peer, most));
  if (open.size() < limits.total + (privileged ? limits.reserved : 0)) return {.admitted = true};
  std::map<std::uint64_t, std::size_t> held;
  for (const OpenConnection& one : open) {
    if (privileged || !one.privileged) ++held[one.peer];
  }
  const auto largest = std::max_element(
      held.begin(), held.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest == held.end() || largest->second < own) return {};
  return in_place_of(least_of(open, largest->first, most));
}

}  // namespace orrery
