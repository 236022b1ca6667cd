#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "live/daemon/server/outside.h"
#include "live/store/record.h"
#include "model/event.h"

// What the scheduler's log is made of. Everything is named as the outside names it (jobs by their
// numbers, nodes by their names), because a scheduler's own ids are others after a restart.
//
// There are two kinds: what came from outside, and what was decided about it. The first alone,
// given to the same code again, brings about the second; that is how a log is replayed. Applied
// one after the other without deciding anything, both bring back the state; that is recovery.

namespace orrery {

// An event of a scheduling round: all kinds but Submitted.
struct Decided {
  EventKind kind{};
  JobNumber job = 0;
  std::vector<std::pair<std::string, std::uint64_t>> devices{};  // node, its GPUs
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  Sharing sharing = Sharing::Exclusive;
  int group = -1;
  int position = 0;
  double iterations_per_s = 0;
  Time ready{};
  double work_left = 0;
  Reason reason{};             // without `other`
  JobNumber reason_other = 0;  // 0: none
  Time promised{};
  Time finished{};
  bool operator==(const Decided&) const = default;
};

using Entry = std::variant<EraBegan, LogNamed, LaunchFound, TermBegan, PolicyChanged, Submitted,
                           CancelAsked, NodeJoined, NodeTurned, LaunchEnded, Progressed, QuotaSet,
                           MembersSet, LimitsSet, TokenKept, RoundHeld, Decided>;

inline bool is_decision(const Entry& entry) { return std::holds_alternative<Decided>(entry); }

Record to_record(const Entry& entry, Time time);
// DataLoss, with the record's place in the log, for one that cannot be read.
Result<Entry> read_entry(const Record& record);

}  // namespace orrery
