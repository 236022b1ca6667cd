#pragma once

#include <cstdint>
#include <string>

#include "live/api/assignment.h"

// Which log this is, and what happened to it when a copy of it was put back.

namespace orrery {

// What log this is, or from where on it is another one: an old copy that was put back, say. What
// came after that copy is in no log, but may be on nodes and in people's notes, so numbers go on
// beyond it: of jobs from `first`, of epochs from `epoch_floor`.
struct LogNamed {
  std::string id{};              // empty: as before
  JobNumber first = 0;           // 0: as before
  std::int64_t epoch_floor = 0;  // 0: as before
  bool restored = false;         // nodes may run launches that this log does not know
  std::string by{};
  bool operator==(const LogNamed&) const = default;
};

// A process on a node that this log does not know: it was decided after the copy that was restored.
struct LaunchFound {
  LaunchName launch{};
  std::string node{};
  bool operator==(const LaunchFound&) const = default;
};

// What such entries add up to.
struct LogOrigin {
  std::string id{};
  std::int64_t epoch_floor = 0;   // epochs that were decided since have higher numbers
  JobNumber restored_before = 0;  // earlier jobs may be on nodes that were not heard of
  int nodes_unheard = 0;          // since the copy was put back
  std::int64_t term_before = 0;   // the term of this log before the current one
  bool is_restored = false;       // since that term began: missing records are expected

  // True if a node may be running processes of the job that are not in the log.
  bool may_be_elsewhere(JobNumber job) const { return nodes_unheard > 0 && job < restored_before; }
};

}  // namespace orrery
