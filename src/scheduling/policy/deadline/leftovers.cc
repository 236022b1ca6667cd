#include "scheduling/policy/deadline/leftovers.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace orrery {
namespace {

// What a GPU brings in the part of its future where it brings least: the GPU-time that is saved by
// an iteration done now.
double marginal(const ElasticJob& job) {
  if (job.promise.given) return job.promise.plan.slope * job.now.factor;
  const auto steps = job.curve->hull_edges();
  return (job.hard ? steps.back().slope : steps.front().slope) * job.now.factor;
}

// Waiting jobs come in this order: hard deadlines that may still be met, the least GPU-time first,
// since that is most of them; then the most value for its GPU-time; then the order of arrival; and
// then jobs whose plan begins later.
std::tuple<int, bool, double> standing(const ElasticJob& job) {
  const double gpu_s = job.now.work / job.curve->hull_edges().front().slope;
  const bool waits = job.now.held == 0;
  if (job.promise.given) return {3, waits, job.promise.plan.capacity_s};
  if (job.hard) return {0, waits, gpu_s};
  if (job.deadline != kNever) return {1, waits, -job.spec->deadline_value / gpu_s};
  return {2, waits, 0};
}

}  // namespace

void Leftovers::share(Time now, int total, std::span<ElasticJob* const> jobs, Promises& promises) {
  now_ = now;
  left_ = total;
  frozen_.assign(jobs.size(), 0);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ElasticJob& job = *jobs[i];
    job.round.planned = job.promise.fixed   ? job.round.target
                        : job.promise.given ? job.promise.plan.option_at(now)
                                            : 0;
    job.round.target = job.round.planned;
    frozen_[i] = job.promise.fixed ? 1 : 0;
    left_ -= job.capacity(job.round.target);
  }
  first_options(jobs);
  keep(jobs);
  // What is not worth its start-up is given to others, a few times over.
  for (int round = 0; round < 3; ++round) {
    climb(jobs);
    if (settle(jobs, promises)) break;
  }
}

void Leftovers::first_options(std::span<ElasticJob* const> jobs) {
  order_.clear();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i]->round.target == 0 && jobs[i]->curve->top() > 0) order_.push_back(i);
  }
  std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return standing(*jobs[i]); });
  for (const std::size_t i : order_) {
    ElasticJob& job = *jobs[i];
    if (job.capacity(1) > left_) continue;
    job.round.target = 1;
    left_ -= job.capacity(1);
  }
}

void Leftovers::keep(std::span<ElasticJob* const> jobs) {
  order_.clear();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (frozen_[i] == 0 && jobs[i]->now.held > jobs[i]->round.target && jobs[i]->round.target > 0) {
      order_.push_back(i);
    }
  }
  std::ranges::stable_sort(order_, std::ranges::greater{}, [&](std::size_t i) {
    return jobs[i]->curve->slope(jobs[i]->round.target, jobs[i]->now.held) * jobs[i]->now.factor /
           marginal(*jobs[i]);
  });
  for (const std::size_t i : order_) {
    ElasticJob& job = *jobs[i];
    const int more = job.capacity(job.now.held) - job.capacity(job.round.target);
    if (more > left_) continue;
    job.round.target = job.now.held;
    left_ -= more;
  }
}

void Leftovers::push(std::span<ElasticJob* const> jobs, std::size_t i) {
  const ElasticJob& job = *jobs[i];
  if (frozen_[i] != 0 || job.round.target == 0) return;
  Climb climb{.saving = 0, .job = i, .from = job.round.target, .to = 0};
  for (int to = job.round.target + 1; to < job.curve->size(); ++to) {
    if (job.capacity(to) - job.capacity(job.round.target) > left_) break;
    const double saving = job.curve->slope(job.round.target, to) * job.now.factor / marginal(job);
    if (saving <= climb.saving) continue;
    climb.saving = saving;
    climb.to = to;
  }
  if (climb.to == 0) return;
  climbs_.push_back(climb);
  std::push_heap(climbs_.begin(), climbs_.end());
}

void Leftovers::climb(std::span<ElasticJob* const> jobs) {
  climbs_.clear();
  for (std::size_t i = 0; i < jobs.size(); ++i) push(jobs, i);
  while (!climbs_.empty() && left_ > 0) {
    const Climb best = climbs_.front();
    std::pop_heap(climbs_.begin(), climbs_.end());
    climbs_.pop_back();
    ElasticJob& job = *jobs[best.job];
    const int more = job.capacity(best.to) - job.capacity(best.from);
    if (more <= left_) {
      job.round.target = best.to;
      left_ -= more;
    }
    push(jobs, best.job);
  }
}

// True if what is saved outweighs the start-up, with a margin against oscillation.
bool Leftovers::repays_start(const ElasticJob& job) const {
  if (job.now.held == 0 || job.round.target <= job.now.held) return true;
  const double before_s = job.now.work / job.speed(job.now.held);
  const double after_s = job.now.work / job.speed(job.round.target);
  return before_s - after_s > 3 * seconds(job.start_cost) + 0.02 * before_s;
}

// Takes back what does not repay its start or would endanger a promise. True if there was nothing.
bool Leftovers::settle(std::span<ElasticJob* const> jobs, Promises& promises) {
  bool settled = true;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ElasticJob& job = *jobs[i];
    if (frozen_[i] != 0) continue;
    const int reached = job.round.target;
    if (!repays_start(job)) job.round.target = std::max(job.now.held, job.round.planned);
    if (!promises.allows(job, job.round.target)) {
      const bool stay =
          job.now.held >= job.round.planned && job.capacity(job.now.held) <= job.capacity(reached);
      job.round.target = stay ? job.now.held : job.round.planned;
    }
    if (job.round.target == reached) continue;
    left_ += job.capacity(reached) - job.capacity(job.round.target);
    frozen_[i] = 1;
    settled = false;
  }
  return settled || left_ <= 0;
}

}  // namespace orrery
