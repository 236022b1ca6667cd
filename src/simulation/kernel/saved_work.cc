#include "simulation/kernel/saved_work.h"

#include <algorithm>

namespace orrery {

Duration SavedWork::cost(JobId job) const {
  const Duration own = workload_.jobs[index(job)].checkpoint_cost;
  return own > Duration::zero() ? own : rules_.checkpoint_cost;
}

double SavedWork::factor(JobId job) const {
  if (rules_.checkpoint_interval == Duration::zero()) return 1;
  return 1 + seconds(cost(job)) / seconds(rules_.checkpoint_interval);
}

void SavedWork::start(JobId job, Time now, Time ready, double work_left) {
  if (runs_.size() <= index(job)) runs_.resize(workload_.jobs.size());
  runs_[index(job)] = {.ready = ready, .checked = now, .work_left = work_left, .saved = work_left};
}

void SavedWork::check(JobId job, Time now, double work_left) {
  Run& run = runs_[index(job)];
  const Time from = std::max(run.checked, run.ready);
  if (rules_.checkpoint_interval > Duration::zero() && now > from) {
    const Duration period = rules_.checkpoint_interval + cost(job);
    const Time save = run.ready + (now - run.ready) / period * period;
    if (save > from) {
      const double part = seconds(save - from) / seconds(now - from);
      run.saved = run.work_left + (work_left - run.work_left) * part;
    }
  }
  run.checked = now;
  run.work_left = work_left;
}

SavedWork::Loss SavedWork::lose(JobId job, Time now, double work_left, Duration notice) {
  const Run before = runs_[index(job)];
  check(job, now, work_left);
  const double saved = runs_[index(job)].saved;
  if (notice > Duration::zero() && notice >= cost(job)) {
    const Time from = std::max(before.checked, before.ready);
    const double per_s = now > from ? (before.work_left - work_left) / seconds(now - from) : 0;
    return {.work_left = std::min(saved, work_left + per_s * seconds(cost(job)))};
  }
  return {.work_left = saved, .work_lost = saved - work_left};
}

}  // namespace orrery
