#pragma once

#include <optional>
#include <span>
#include <vector>

namespace orrery {

// What a job asks of a time line that is cut into leases: `needed` of the leases [0, last), any of
// them, with `gpus` in each.
struct LeaseDemand {
  int gpus = 0;
  int needed = 0;
  int last = 0;
  bool runs = false;  // holds its GPUs already, so that going on costs it nothing

  int slack() const { return last - needed; }
};

// Which leases a job gets, rising.
using Leases = std::vector<int>;

// Gives every job its latest possible leases, widest jobs first, then those with least slack.
// Nothing if some job does not find enough; others may then still exist.
std::optional<std::vector<Leases>> pack_late(std::span<const LeaseDemand> demands, int gpus);

// What to look for among all ways to keep every deadline.
enum class FirstLease {
  Any,
  Busiest,  // as many GPUs as possible busy in lease 0
  Idlest,   // as few as possible, so that others may use them
};

// Searches for such a way by a whole-number program. Its unknowns are how many leases a job gets in
// each stretch of leases; at first the stretches lie between deadlines, and where the amounts
// cannot be laid out they are halved. Nothing if there is no way, or none was found within a limit
// of work.
//
// Jobs that run are preferred where that costs nothing.
std::optional<std::vector<Leases>> pack_best(std::span<const LeaseDemand> demands, int gpus,
                                             FirstLease wanted);

}  // namespace orrery
