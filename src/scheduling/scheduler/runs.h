#pragma once

#include <algorithm>
#include <cmath>

#include "base/sparse_table.h"
#include "model/ids.h"
#include "model/time.h"

namespace orrery {

// How much work running jobs have left, by the pace they go at and the time that passes; between
// measurements, where there are any.
class Runs {
 public:
  void set_time(Time now) { now_ = now; }
  Time now() const { return now_; }

  // It is up at `ready`; pace() follows.
  void hold(JobId job, double work_left, Time ready) {
    runs_.open(job) = {.work_left = work_left, .checked = now_, .ready = ready};
  }
  // It runs no more.
  void drop(JobId job) { runs_.close(job); }
  // From now on an iteration takes this long. False if it did before.
  bool pace(JobId job, double iteration_s) {
    Run& run = runs_[job];
    if (iteration_s == run.iteration_s) return false;
    run.work_left = work_left(job);
    run.checked = now_;
    run.iteration_s = iteration_s;
    return true;
  }
  // So much was left then; later measurements win.
  void measured(JobId job, double work_left, Time at) {
    Run& run = runs_[job];
    if (at < run.checked) return;
    run.work_left = work_left;
    run.checked = at;
    run.ready = std::min(run.ready, at);
  }

  double work_left(JobId job) const {
    const Run& run = runs_[job];
    const Time from = std::max(run.checked, run.ready);
    if (now_ <= from || run.iteration_s == 0) return run.work_left;
    return std::max(0.0, run.work_left - seconds(now_ - from) / run.iteration_s);
  }
  // When its work is done at this pace; never before now.
  Time end(JobId job) const {
    const Run& run = runs_[job];
    const double rest_ns = std::ceil(std::max(0.0, work_left(job)) * run.iteration_s * 1e9);
    const Time from = std::max(now_, run.ready);
    const auto most_ns = static_cast<double>((kNever - from).count());
    return rest_ns < most_ns ? from + Duration(static_cast<std::int64_t>(rest_ns)) : kNever;
  }

 private:
  struct Run {
    double work_left = 0;  // when it was last checked
    double iteration_s = 0;
    Time checked{};
    Time ready{};
  };

  Time now_{};
  SparseTable<JobId, Run> runs_;  // those that run
};

}  // namespace orrery
