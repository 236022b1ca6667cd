#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace orrery {

// Which member of a run leads it. Epochs grow by one with every new chief. So what an earlier one
// still sends or writes differs from what the present one does.
struct ChiefLease {
  std::int64_t epoch = 0;  // 0: no member has led the run yet
  std::string holder{};
  std::int64_t renewals = 0;
  bool released = false;  // the holder has given it up, or is known to be gone
  std::string next{};     // of a released one: the member that should take it; empty: any

  friend bool operator==(const ChiefLease&, const ChiefLease&) = default;
};

// The leases of a run, in the folder FOLDER/lease, which the members share: a file for each epoch,
// EPOCH, and EPOCH.released once it was given up. The newest epoch counts. A file is made by one
// member only, and only that member renews it. So a member that hangs in any of these calls, and
// goes on much later, changes nothing but the file of its own epoch.
//
// Changes are made under a lock, FOLDER/lease/lock, so that nothing is written for an epoch after
// another member has begun the next one. A process that hangs with the lock loses it after
// `lock_patience`. It can then still finish the one write that it hung in.
class LeaseFile {
 public:
  using Patience = std::chrono::steady_clock::duration;
  explicit LeaseFile(const std::string& run_folder,
                     Patience lock_patience = std::chrono::seconds(3))
      : folder_(run_folder + "/lease"), lock_patience_(lock_patience) {}

  Result<ChiefLease> read() const;
  // The next epoch for `holder`, if the lease is still what it was `seen` as. Nothing: it is not.
  Result<std::optional<ChiefLease>> take(const ChiefLease& seen, const std::string& holder) const;
  // FailedPrecondition: another member has taken the lease, or it was given up.
  Status renew(ChiefLease& mine) const;
  // That the holder of `epoch` leads no longer. Nothing happens if another has taken over already.
  Status release(std::int64_t epoch, const std::string& next = {}) const;
  // Calls `write` while no other member can take the lease. FailedPrecondition: one has before.
  Status while_held(std::int64_t epoch, const std::function<Status()>& write) const;

 private:
  Result<std::int64_t> newest() const;
  std::string path_of(std::int64_t epoch) const;
  std::string release_path_of(std::int64_t epoch) const;
  Status locked(const std::function<Status()>& change) const;

  const std::string folder_;
  const Patience lock_patience_;
};

// When a member may take a lease that another one holds: it was released, for any member or for
// this one, or has not changed for `patience` on the observer's own clock. The clocks of two
// machines are never compared. A holder that has not renewed it once is still starting, and gets
// kStartFactor times as long.
class LeaseWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kStartFactor = 10;
  LeaseWatch(std::string member, Clock::duration patience)
      : member_(std::move(member)), patience_(patience) {}

  bool may_take(const ChiefLease& lease, Clock::time_point now);

 private:
  const std::string member_;
  const Clock::duration patience_;
  std::optional<ChiefLease> seen_{};
  Clock::time_point since_{};
};

}  // namespace orrery
