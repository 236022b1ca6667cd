#pragma once

#include <algorithm>

#include "cloud/market/spot_market.h"
#include "model/time.h"

namespace orrery {

enum class MachineKind { None, OnDemand, Spot };

// The machine of a job: none, one on demand, or a spot machine of a zone.
struct MachineChoice {
  MachineKind kind = MachineKind::None;
  int zone = -1;  // of a spot machine

  bool operator==(const MachineChoice&) const = default;
};

inline constexpr MachineChoice kNoMachine{};
inline constexpr MachineChoice kOnDemand{.kind = MachineKind::OnDemand};
constexpr MachineChoice spot_in(int zone) { return {.kind = MachineKind::Spot, .zone = zone}; }

// What is known at the begin of a tick.
struct SpotView {
  Duration elapsed{};          // since the start of the plan
  Duration work_left{};        // above 0
  MachineChoice held{};        // a spot machine whose zone lost its capacity is gone
  Duration changeover_left{};  // of the held machine
  ZoneSet zones{};             // that have capacity for the whole tick
};

// Decides which machine a job holds, tick by tick. It reads no clock and no future: a decision
// follows from the job, the views so far and, where a policy draws, its seed. One object for each
// plan.
class SpotPolicy {
 public:
  virtual ~SpotPolicy() = default;
  // The machine for the tick that begins; a spot machine only where the zone has capacity. Any
  // other machine than the held one starts with a change-over.
  virtual MachineChoice decide(const SpotView& view) = 0;
};

}  // namespace orrery
