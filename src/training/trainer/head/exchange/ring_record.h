#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "training/sync/task.h"

namespace orrery {

// Which members of an all-reduce have proved that the others can reach them. A newcomer whose rings
// fail to form, while older members have formed rings before, is to blame.
class RingRecord {
 public:
  using Clock = std::chrono::steady_clock;

  void began(std::int64_t epoch, std::span<const WorkerId> members, Clock::time_point now);
  void formed(int worker);  // it reached all members of the newest epoch
  // Members to give up, since a second ring with them has failed.
  std::vector<int> failed(std::int64_t epoch);
  void forget(int worker);

  // The members that have not reported for longer than `limit`; each epoch is named once.
  std::vector<int> overdue(Clock::time_point now, Clock::duration limit);
  bool proven(int worker) const { return proven_.contains(worker); }

 private:
  std::int64_t epoch_ = 0, failed_epoch_ = 0;
  std::set<int> members_{}, missing_{}, proven_{};
  std::map<int, int> failures_{};
  Clock::time_point began_{};
  bool named_ = false;
};

}  // namespace orrery
