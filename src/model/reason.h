#pragma once

#include <cstdint>
#include <string>

#include "model/ids.h"
#include "model/time.h"

namespace orrery {

// Why a job waits, was stopped or was refused, made where the decision was made. A code and two
// numbers, because most reasons are never read; text() makes the sentence.
struct Reason {
  enum class Code : std::uint8_t {
    None,
    GpusBusy,       // wanted GPUs, this many are free
    Fragmented,     // enough GPUs are free, but not where the placement rule wants them
    CpusBusy,       // wanted milli-CPUs on one node, this many are free there
    MemoryBusy,     // likewise bytes of memory
    BehindOthers,   // this many jobs go first, of the same shape as a rule
    Outranked,      // preempted by `other`
    Reserved,       // gathers GPUs: wanted, has so far
    TooLarge,       // wanted GPUs, the whole cluster has this many
    NoSuchNode,     // no node offers the CPUs, memory or GPU type asked for
    Cancelled,      // by its owner
    NodeLost,       // its node went away
    Quantum,        // groups are formed again at the next quantum
    DeadlinePast,   // its deadline is not after its submission
    TooLate,        // not even alone: `earliest` is when it could be done
    Promised,       // between `from` and `until` other promises hold what it would need: wanted
                    // GPUs, this many are left; `earliest` is what could be promised instead
    Later,          // its plan begins at `from`
    OverBudget,     // it fits, but at this load no job is promised that much: wanted GPU-seconds,
                    // this many at most
    Quota,          // its owner may hold this many GPUs in all: wanted, are left
    Dependency,     // waits for the end of `other`
    Retry,          // failed before: try number `wanted` of `available`
    NotHere,        // no open node offers what it asks for: wanted GPUs, the open nodes have
    Requested,      // by the operator
    Priority,       // jobs of a higher class want all there is
    PolicyChanged,  // the policy that took over cannot leave it as it was
    UserLimit,      // its user may use this many GPUs at a time: wanted, the limit
    TenantLimit,    // likewise its tenant
  };
  Code code = Code::None;
  JobId other = kNoJob;
  std::int64_t wanted = 0;
  std::int64_t available = 0;
  Time from{};
  Time until{};
  Time earliest{};  // kNever: never

  bool operator==(const Reason&) const = default;
};

std::string text(const Reason& reason);

}  // namespace orrery
