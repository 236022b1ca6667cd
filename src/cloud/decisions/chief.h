#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cloud/lifetimes/lifetime.h"
#include "cloud/provider/server.h"

namespace orrery {

// A worker that could become chief.
struct ChiefCandidate {
  const Server* server = nullptr;
  const Lifetime* lifetime = nullptr;  // null: nothing revokes it
};

// The live member that takes over as chief: one without a notice before one with, then the one with
// the lowest hazard at its age over `window`, then the one with the lowest index. Nothing if no
// member is up. Its epoch, not this choice, keeps two chiefs apart.
std::optional<std::size_t> choose_chief(std::span<const ChiefCandidate> members, Time now,
                                        Duration window);

}  // namespace orrery
