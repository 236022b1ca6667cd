#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/time.h"
#include "training/sync/task.h"

namespace orrery {

// The end of a run: it leaves the checkpoint that it promised, within a bounded time.
class RunEnd {
 public:
  // A run with a folder promises a checkpoint of its last version.
  void promise_checkpoint() { promised_ = true; }
  void checkpoint_saved(ParameterVersion version);
  void checkpoint_failed(const Error& why);  // the newest failure is named at the end

  // The run has failed, whatever else it does. True if this is the first reason.
  bool fail(const Error& why);

  // Called while the end is asked for but a sum is still under way. True once this has lasted
  // longer than `limit`.
  bool overdue(Time now, Duration limit);

  // An error if the run failed, or if the checkpoint of `last` was promised and is not on disk.
  Status outcome(ParameterVersion last) const;

 private:
  bool promised_ = false;
  std::optional<ParameterVersion> saved_{};
  std::string failure_{};
  std::optional<Time> asked_{};
  Status failed_{};
};

}  // namespace orrery
