#pragma once

#include <vector>

#include "control/executor.h"
#include "control/scheduler.h"
#include "sim/semantics.h"

namespace orrery {

// Simulated machines: carries actions out at once, and gives every job the speed that its company
// on the devices allows.
class Machines final : public Executor {
 public:
  Machines(const Workload& workload, Semantics& semantics);

  void report_to(Scheduler& scheduler) { scheduler_ = &scheduler; }
  void set_time(Time now) { now_ = now; }

  void perform(const Action& action) override;
  double work_left(JobId job) const override { return semantics_.work_left(job); }

  void forget(JobId job);  // it ended by itself
  void settle();           // the round is over: sets the speed of all whose company changed

 private:
  const Workload& workload_;
  Semantics& semantics_;
  Scheduler* scheduler_ = nullptr;
  Time now_{};
  std::vector<JobId> touched_;
};

}  // namespace orrery
