#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace orrery {

// How many connections a server holds: in all, of one peer (a user, or an address), and beyond
// these for privileged peers alone.
struct ConnectionLimits {
  std::size_t total = 0;
  std::size_t per_peer = 0;
  std::size_t reserved = 0;
};

struct OpenConnection {
  // Idle ones have nothing to say. Parked ones wait for something for long, or send slowly. Fresh
  // ones are at work.
  enum class Use { Idle, Parked, Fresh };

  std::uint64_t peer = 0;
  bool privileged = false;
  Use use = Use::Idle;
  std::int64_t since = 0;  // when it was used last, by any clock
};

// What becomes of one more connection. `ends` is the place of an open one that gives way to it.
struct ConnectionAdmission {
  bool admitted = false;
  std::optional<std::size_t> ends{};
};

// A peer at its limit loses its own connections: idle ones first, then parked ones, the oldest
// first. A server at its limit takes one from the peer that has the most. Work in progress ends for
// a privileged peer alone. So no peer keeps others out by holding connections, nor itself.
ConnectionAdmission admit(std::span<const OpenConnection> open, std::uint64_t peer, bool privileged,
                          const ConnectionLimits& limits);

}  // namespace orrery
