#include "scheduling/policy/order/levels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr std::int64_t kRunningFirst = std::int64_t{1} << 61;

}  // namespace

LevelOrder::LevelOrder(Options options) : options_(std::move(options)) {
  INVARIANT(std::ranges::is_sorted(options_.limits), "levels end one after another");
  keys_.resize(options_.limits.size() + 1);
  std::iota(keys_.begin(), keys_.end(), 0.0);
}

Rank LevelOrder::rank(const View& /*view*/, JobId job) const {
  const Standing& standing = jobs_[job];
  return {keys_[static_cast<std::size_t>(standing.level)],
          standing.runs ? standing.ticket - kRunningFirst : standing.ticket};
}

void LevelOrder::arrived(const View& view, JobId job) {
  Standing& standing = jobs_.open(job);
  standing = {
      .change = ++changes_, .ticket = ++last_waiting_, .forgiven = {}, .waited = {}, .stopped = {}};
  if (view.job(job).state == JobState::Pending) return;
  // It has run before it came into sight.
  standing.stopped = view.now;
  while (sinks(view, job)) ++standing.level;
}

void LevelOrder::started(const View& view, JobId job) {
  Standing& standing = jobs_[job];
  if (!standing.runs && service(view, job) > Duration::zero()) {
    standing.waited += view.now - standing.stopped;
  }
  standing.runs = true;
  standing.ticket = ++last_running_;
  standing.change = ++changes_;
  watch(view, job);
}

void LevelOrder::stopped(const View& view, JobId job) {
  Standing& standing = jobs_[job];
  // One that has just sunk is at the tail of its new level already.
  if (standing.runs) standing.ticket = --first_waiting_;
  standing.runs = false;
  standing.change = ++changes_;
  standing.stopped = view.now;
  watch(view, job);
}

void LevelOrder::refresh(const View& view, std::vector<JobId>& changed) {
  leave(view);
  collect_due(view, changed);
  std::ranges::sort(changed);
  change_levels(view, changed);
}

void LevelOrder::leave(const View& view) {
  for (const JobId job : view.ended) jobs_.close(job);
}

void LevelOrder::collect_due(const View& view, std::vector<JobId>& changed) {
  while (!watched_.empty() && watched_.top().at <= view.now) {
    const Watched next = watched_.top();
    watched_.pop();
    if (!knows(next.job) || jobs_[next.job].change != next.change) continue;
    if (jobs_[next.job].runs && !sinks(view, next.job)) {
      watch(view, next.job);  // It took longer to start than was thought.
    } else {
      changed.push_back(next.job);
    }
  }
}

// A running job sinks by a level, a waiting one starts over in the first.
void LevelOrder::change_levels(const View& view, std::span<const JobId> changed) {
  for (const JobId job : changed) {
    Standing& standing = jobs_[job];
    if (standing.runs) {
      ++standing.level;
      standing.runs = false;
    } else {
      standing.level = 0;
      standing.forgiven += service(view, job);
      standing.waited = {};
    }
    standing.stopped = view.now;
    standing.ticket = ++last_waiting_;
    standing.change = ++changes_;
  }
}

Time LevelOrder::next_change(const View& /*view*/) {
  return watched_.empty() ? kNever : watched_.top().at;
}

bool LevelOrder::has_limit(JobId job) const {
  return static_cast<std::size_t>(jobs_[job].level) < options_.limits.size();
}

Duration LevelOrder::limit(JobId job) const {
  return options_.limits[static_cast<std::size_t>(jobs_[job].level)];
}

// Divided, because GPU time is more than the time line holds where many GPUs are held for long.
Duration LevelOrder::limit_for_each(const View& view, JobId job) const {
  const int gpus = view.spec(job).gpus;
  return Duration((limit(job).count() + gpus - 1) / gpus);
}

Duration LevelOrder::served(const View& view, JobId job) const {
  return view.job(job).worked_at(view.now);
}

Duration LevelOrder::service(const View& view, JobId job) const {
  return served(view, job) - jobs_[job].forgiven;
}

bool LevelOrder::sinks(const View& view, JobId job) const {
  if (is_final(view.job(job).state) || !has_limit(job)) return false;
  return service(view, job) >= limit_for_each(view, job);
}

// It may be through several levels at once, where rounds are far apart.
Time LevelOrder::sinks_at(const View& view, JobId job) const {
  const bool runs = view.job(job).state == JobState::Running;
  const Time ready = runs ? view.job(job).ready : view.now + view.spec(job).start_cost;
  const Time from = std::max(view.now, ready);
  return std::max(view.now, from + (limit_for_each(view, job) - service(view, job)));
}

void LevelOrder::watch_sinking(const View& view, JobId job) {
  watched_.push({sinks_at(view, job), job, jobs_[job].change});
}

// Notes when the level of a job changes by itself: it sinks while it runs, and is promoted while
// it waits.
void LevelOrder::watch(const View& view, JobId job) {
  const Standing& standing = jobs_[job];
  if (standing.runs) {
    if (has_limit(job)) watch_sinking(view, job);
  } else if (options_.promote > 0 && standing.level > 0) {
    const double patience_s = seconds(service(view, job)) * options_.promote;
    const Time at = time_from_seconds(seconds(view.now) + patience_s - seconds(standing.waited));
    watched_.push({std::max(view.now, at), job, standing.change});
  }
}

}  // namespace orrery
