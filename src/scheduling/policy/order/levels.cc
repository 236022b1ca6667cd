#include "scheduling/policy/order/levels.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
  const Standing& standing = jobs_[index(job)];
  return {keys_[static_cast<std::size_t>(standing.level)],
          standing.runs ? standing.ticket - kRunningFirst : standing.ticket};
}

void LevelOrder::arrived(const View& view, JobId job) {
  if (jobs_.size() < view.jobs.size()) jobs_.resize(view.jobs.size());
  Standing& standing = jobs_[index(job)];
  standing = {.known = true,
              .turn = standing.turn + 1,
              .ticket = ++last_waiting_,
              .forgiven = {},
              .waited = {},
              .stopped = {}};
  if (view.job(job).state == JobState::Pending) return;
  // It has run before it came into sight.
  standing.stopped = view.now;
  while (sinks(view, job)) ++standing.level;
}

void LevelOrder::started(const View& view, JobId job) {
  Standing& standing = jobs_[index(job)];
  if (!standing.runs && service(view, job) > Duration::zero()) {
    standing.waited += view.now - standing.stopped;
  }
  if (ticks() && !standing.runs && has_limit(job)) {
    running_.push_back(
        {job, view.spec(job).gpus, seconds(limit(job)), seconds(needed_for_each(view, job))});
  }
  standing.runs = true;
  standing.ticket = ++last_running_;
  ++standing.turn;
  watch(view, job);
}

void LevelOrder::stopped(const View& view, JobId job) {
  Standing& standing = jobs_[index(job)];
  if (ticks()) std::erase_if(running_, [&](const Sinking& other) { return other.job == job; });
  // One that has just sunk is at the tail of its new level already.
  if (standing.runs) standing.ticket = --first_waiting_;
  standing.runs = false;
  ++standing.turn;
  standing.stopped = view.now;
  watch(view, job);
}

void LevelOrder::refresh(const View& view, std::vector<JobId>& changed) {
  for (const JobId job : view.ended) {
    jobs_[index(job)].known = jobs_[index(job)].runs = false;
    ++jobs_[index(job)].turn;
  }
  const FloatingTime* time = floating_time(view);
  if (ticks()) {
    std::erase_if(running_, [&](const Sinking& one) {
      if (view.has_ended(one.job)) return true;
      const bool sinks_now =
          time != nullptr ? time->held_s(one.job) * one.gpus >= one.limit_s : sinks(view, one.job);
      if (sinks_now) changed.push_back(one.job);
      return sinks_now;
    });
  }
  while (!watched_.empty() && watched_.top().at <= view.now) {
    const Watched next = watched_.top();
    watched_.pop();
    const Standing& standing = jobs_[index(next.job)];
    if (standing.turn != next.turn) continue;
    if (standing.runs && !sinks(view, next.job)) {
      watch(view, next.job);  // It took longer to start than was thought.
    } else {
      changed.push_back(next.job);
    }
  }
  std::ranges::sort(changed, {}, [&](JobId job) {
    return std::pair(options_.guesses ? -view.spec(job).gpus : 0, job);
  });
  for (const JobId job : changed) {
    Standing& standing = jobs_[index(job)];
    if (standing.runs) {
      ++standing.level;
      standing.runs = false;
      standing.stopped = view.now;
    } else {
      standing.level = 0;
      standing.forgiven += service(view, job);
      standing.waited = {};
      standing.stopped = view.now;
    }
    standing.ticket = ++last_waiting_;
    ++standing.turn;
  }
}

Time LevelOrder::next_change(const View& view) {
  const Time next = watched_.empty() ? kNever : watched_.top().at;
  return running_.empty() ? next : std::min(next, next_sinking(view));
}

Time LevelOrder::next_sinking(const View& view) const {
  Time next = kNever;
  const FloatingTime* time = floating_time(view);
  if (time == nullptr) {
    for (const Sinking& one : running_) next = std::min(next, sinks_at(view, one.job));
    return next;
  }
  double rest_s = std::numeric_limits<double>::infinity();
  for (const Sinking& one : running_) {
    const double held_s = time->held_s(one.job);
    const double guess_s = (seconds(limit(one.job)) - held_s) / view.spec(one.job).gpus;
    rest_s = std::min(rest_s, options_.guesses ? std::ceil(guess_s) : one.needed_s - held_s);
  }
  return time->instant(std::max(rest_s + time->now_s(), time->now_s()));
}

bool LevelOrder::has_limit(JobId job) const {
  return static_cast<std::size_t>(jobs_[index(job)].level) < options_.limits.size();
}

Duration LevelOrder::limit(JobId job) const {
  return options_.limits[static_cast<std::size_t>(jobs_[index(job)].level)];
}

// Divided, because GPU time is more than the time line holds where many GPUs are held for long.
Duration LevelOrder::limit_for_each(const View& view, JobId job) const {
  const int gpus = view.spec(job).gpus;
  return Duration((limit(job).count() + gpus - 1) / gpus);
}

Duration LevelOrder::needed_for_each(const View& view, JobId job) const {
  const Duration needed = limit_for_each(view, job);
  if (!ticks()) return needed;
  return (needed + options_.tick - Duration(1)) / options_.tick * options_.tick;
}

// The published simulators count the time a job takes to start as service. Where levels are short
// it would then be stopped again and again before it has done anything.
Duration LevelOrder::service(const View& view, JobId id) const {
  const Job& job = view.job(id);
  return (ticks() ? job.attained_at(view.now) : job.worked_at(view.now)) -
         jobs_[index(id)].forgiven;
}

bool LevelOrder::sinks(const View& view, JobId job) const {
  if (is_final(view.job(job).state) || !has_limit(job)) return false;
  return service(view, job) >= limit_for_each(view, job);
}

// Promotions start the count of service anew, which no floating clock knows of.
const FloatingTime* LevelOrder::floating_time(const View& view) const {
  return ticks() && options_.promote == 0 ? view.progress->floating_time() : nullptr;
}

Time LevelOrder::sinks_at(const View& view, JobId job) const {
  if (!has_limit(job)) return kNever;
  const bool runs = view.job(job).state == JobState::Running;
  const Time ready = runs || ticks() ? view.job(job).ready : view.now + view.spec(job).start_cost;
  const Time from = ticks() ? view.now : std::max(view.now, ready);
  // It may be through several levels at once, where rounds are far apart.
  return std::max(view.now, from + (needed_for_each(view, job) - service(view, job)));
}

// Notes when the level of a job changes by itself: it sinks while it runs, and is promoted while
// it waits.
void LevelOrder::watch(const View& view, JobId job) {
  const Standing& standing = jobs_[index(job)];
  if (standing.runs) {
    if (ticks() || !has_limit(job)) return;
    watched_.push({sinks_at(view, job), job, standing.turn});
  } else if (options_.promote > 0 && standing.level > 0) {
    const double patience_s = seconds(service(view, job)) * options_.promote;
    const Time at = time_from_seconds(seconds(view.now) + patience_s - seconds(standing.waited));
    watched_.push({std::max(view.now, at), job, standing.turn});
  }
}

}  // namespace orrery
