#pragma once

#include <vector>

#include "scheduling/scheduler/scheduler.h"

namespace orrery {

// For tests: carries actions out at once, remembers them, and knows no progress but `left`.
class FakeExecutor final : public Executor {
 public:
  void report_to(Scheduler& scheduler) { scheduler_ = &scheduler; }

  void perform(const Action& action) override {
    kinds.push_back(action.kind);
    jobs.push_back(action.job);
    if (action.kind == Action::Kind::Pause) {
      scheduler_->paused(action.job, left, action.reason);
    } else {
      scheduler_->held(action, ready, left);
    }
  }
  double work_left(JobId /*job*/) const override { return left; }

  std::vector<Action::Kind> kinds;
  std::vector<JobId> jobs;
  double left = 1;  // of every job
  Time ready{};

 private:
  Scheduler* scheduler_ = nullptr;
};

}  // namespace orrery
