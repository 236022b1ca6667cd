#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "training/lease/lease.h"
#include "training/result/training_result.h"
#include "training/trainer/head/failure_reports.h"
#include "training/trainer/head/membership/run_members.h"
#include "training/trainer/head/run_context.h"
#include "training/trainer/head/session/training_session.h"
#include "training/trainer/lease/head_place.h"
#include "training/trainer/run_folder/folder_lock.h"

namespace orrery {

// By what this head leads the run: the lock of the folder, or, in a run with members, the lease of
// an epoch. A chief whose lease is gone writes nothing any more. Files in the folder carry what is
// wanted of a run with members (orders.json) and how it stands (progress.json, result.json).
class Leadership {
 public:
  Leadership(RunContext& run, const TrainingSession& session, const RunMembers& members)
      : run_(run), session_(session), members_(members), lease_(run.options.resume) {}

  // Once the folder is known. An error: another head leads the run.
  Status begin();
  bool by_lease() const { return run_.options.epoch > 0; }
  // Calls `write` unless the lease is gone.
  Status guard(const std::function<Status()>& write) const;

  // Says in the folder where this head listens.
  Status announce(const HeadPlace& place);
  // The token that the run was prepared with: all its heads have it.
  Result<RunToken> token() const;
  // A few times a second: renews the lease, or ends this head if another member leads the run; does
  // what is wanted of the run, and says how it stands.
  void tick();
  // The run is over, or cannot be led by any head. An error that another head can mend is left.
  void end(const Result<TrainingResult>& result);

 private:
  std::int64_t gradients() const;
  struct Requests {
    bool stop = false;
    std::int64_t saves = 0;
  };
  Requests requests() const;
  // Writes progress.json, and a line of membership.csv whenever the number of workers has changed.
  void note();

  RunContext& run_;
  const TrainingSession& session_;
  const RunMembers& members_;
  const LeaseFile lease_;
  ChiefLease mine_{};
  HeadPlace place_{};
  std::optional<FolderLock> lock_{};
  std::int64_t saves_ = 0;  // that were asked for
  int workers_ = -1;
  FailureReports notes_{"progress notes"};
};

}  // namespace orrery
