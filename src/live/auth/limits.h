#pragma once

#include <chrono>
#include <cstddef>

#include "live/auth/identity.h"

namespace orrery {

// How large a request may be before it is read. Beyond these it is refused, not cut.

// One message, gRPC or REST. An array of jobs is one description and a range, so a large submission
// is a large command or environment; those are bounded by the kernel, below.
inline constexpr std::size_t kMessageBytesMax = std::size_t{4} << 20;
// All headers of one message: certificates do not travel in them, and tokens are short.
inline constexpr std::size_t kHeaderBytesMax = std::size_t{16} << 10;
// One argument or NAME=VALUE: Linux starts no program with a longer one (32 pages).
inline constexpr std::size_t kArgumentBytesMax = std::size_t{128} << 10;
// Arguments and environment together: a quarter of the usual stack limit of 8 MiB, again Linux's.
inline constexpr std::size_t kCommandBytesMax = std::size_t{2} << 20;
// A job's or a tenant's name; it stands in every line of a list.
inline constexpr std::size_t kLabelBytesMax = 255;
// Jobs of one array. Each is an event on disk and a line in every list.
inline constexpr int kArrayJobsMax = 100'000;
// A certificate or a request for one. With a P-256 key they have about 1 KiB.
inline constexpr std::size_t kPemBytesMax = std::size_t{16} << 10;
// Streams a caller may hold open (events -f, logs -f): each holds a buffer and a place in a queue.
inline constexpr int kStreamsMax = 64;

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
