#pragma once

#include <chrono>
#include <cstddef>

#include "live/auth/identity.h"

namespace orrery {

// Bounds of requests. What is larger is refused, not cut.

// A certificate or a request for one. With a P-256 key they have about 1 KiB.
inline constexpr std::size_t kPemBytesMax = std::size_t{16} << 10;
// Names and addresses in the certificate of a server.
inline constexpr std::size_t kHostsMax = 64;

// How long certificates live. Renewal happens after two thirds.
inline constexpr std::chrono::hours kAuthorityLife{24 * 3650};
inline constexpr std::chrono::hours kServerLife{24 * 90};
inline constexpr std::chrono::hours kPersonLife{24 * 30};
inline constexpr std::chrono::hours kAgentLife{24 * 90};
// Machines', which agents renew by themselves and scrapers by a command.
constexpr std::chrono::hours life_of(Role role) {
  return role == Role::Agent || role == Role::Scraper ? kAgentLife : kPersonLife;
}
// A certificate is valid from a little before it was made, since clocks differ between machines.
inline constexpr std::chrono::minutes kClockSlack{5};

}  // namespace orrery
