#include "training/trainer/head/exchange/ring_record.h"

#include <algorithm>
#include <utility>

namespace orrery {

void RingRecord::began(std::int64_t epoch, std::span<const WorkerId> members,
                       Clock::time_point now) {
  epoch_ = epoch;
  began_ = now;
  named_ = false;
  members_.clear();
  for (const WorkerId member : members) members_.insert(static_cast<int>(member));
  missing_ = members_;
}

void RingRecord::formed(int worker) {
  missing_.erase(worker);
  proven_.insert(worker);
  failures_.erase(worker);
}

std::vector<int> RingRecord::failed(std::int64_t epoch) {
  std::vector<int> blamed;
  if (epoch != epoch_ || std::exchange(failed_epoch_, epoch) == epoch) return blamed;
  missing_.clear();
  const auto is_proven = [this](int member) { return proven(member); };
  if (std::ranges::none_of(members_, is_proven)) return blamed;
  constexpr int kFailuresMost = 2;
  for (const int member : members_) {
    if (!is_proven(member) && ++failures_[member] >= kFailuresMost) blamed.push_back(member);
  }
  return blamed;
}

void RingRecord::forget(int worker) {
  members_.erase(worker);
  missing_.erase(worker);
  proven_.erase(worker);
  failures_.erase(worker);
}

std::vector<int> RingRecord::overdue(Clock::time_point now, Clock::duration limit) {
  if (named_ || missing_.empty() || now - began_ < limit) return {};
  named_ = true;
  return {missing_.begin(), missing_.end()};
}

}  // namespace orrery
