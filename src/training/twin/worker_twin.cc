#include "training/twin/worker_twin.h"

#include <algorithm>
#include <cmath>

#include "training/twin/shared_link.h"

namespace orrery {
namespace {

const TwinWorker& facts_of(const TwinSetup& setup, int worker) {
  return setup.workers[static_cast<std::size_t>(worker)];
}

// What latency adds to an iteration of that worker: over the longest path that it needs.
double exchange_s(const TwinSetup& setup, int worker) {
  double path_s = facts_of(setup, worker).latency_s;
  if (setup.shards.on_workers) {
    double others_s = 0;
    for (int i = 0; i < static_cast<int>(setup.workers.size()); ++i) {
      if (i != worker) others_s = std::max(others_s, facts_of(setup, i).latency_s);
    }
    path_s += others_s;
  }
  return setup.latency_factor * path_s + setup.latency_square_per_s * path_s * path_s;
}

}  // namespace

TwinProcessor::TwinProcessor(const TwinSetup& setup, int worker, Random& seeds)
    : facts_(facts_of(setup, worker)),
      jitter_(setup.jitter),
      exchange_s_(exchange_s(setup, worker)),
      line_(setup.script, worker, ServerResource::Cpu),
      random_(seeds.bits()) {
  if (facts_.cores > 0) quota_.emplace(facts_.cores, seeds.bits());
}

Time TwinProcessor::begin(const Task& task, Time now) {
  from_ = now;
  work_s_ = facts_.fixed_s + facts_.per_sample_s * task.samples.count +
            facts_.block_s * std::max(0, task.blocks - 1);
  // Cut off far below, so that nothing takes no time at all.
  if (jitter_ > 0) work_s_ *= std::max(0.1, 1 + jitter_ * random_.normal());
  done_s_ = 0;
  return go_on(now);
}

Time TwinProcessor::go_on(Time now) {
  const double left_s = work_s_ - done_s_;
  // Of what a task costs however small it is, one half is parameters in, the other gradient out.
  const double computed_s =
      quota_ ? quota_->work(seconds(now), {left_s, facts_.fixed_s / 2}, line_, share_)
             : line_.finish_s(seconds(now), left_s / share_);
  // At least a nanosecond, so that time goes on whatever the setup says.
  computed_at_ = std::max(now + Duration(1), time_from_seconds(computed_s + exchange_s_));
  return computed_at_;
}

double TwinProcessor::serve_s(double now_s, double work_s) {
  return quota_ ? quota_->work(now_s, {work_s, 0}, line_, share_)
                : line_.finish_s(now_s, work_s / share_);
}

std::optional<Time> TwinProcessor::set_share(double share, bool computes, Time now) {
  if (computes) {
    done_s_ = work_done_s(now);
    from_ = now;
    break_off(now);
  }
  share_ = share;
  if (!computes) return std::nullopt;
  return go_on(now);
}

double TwinProcessor::cut(Time now) {
  if (!(work_s_ > 0)) return 0;
  const double share = work_done_s(now) / work_s_;
  break_off(now);
  return share;
}

void TwinProcessor::work_without_rest(Time until) {
  if (quota_) quota_->tire(seconds(until), line_, share_);
}

double TwinProcessor::work_done_s(Time now) const {
  if (quota_) return std::min(work_s_, done_s_ + quota_->done_s(seconds(now)));
  const double since_s = line_.done_s(seconds(from_), seconds(now));
  return std::min(work_s_, done_s_ + since_s * share_);
}

void TwinProcessor::break_off(Time now) {
  if (quota_) quota_->stop(seconds(now), line_, share_);
}

TwinOwnLink::TwinOwnLink(const TwinSetup& setup, int worker)
    : bytes_per_s_(facts_of(setup, worker).bytes_per_s),
      burst_s_(facts_of(setup, worker).burst_s),
      line_(setup.script, worker, ServerResource::Bandwidth) {}

double TwinOwnLink::rate(Time now) {
  return bytes_per_s_ > 0 ? bytes_per_s_ * share_ * line_.at(seconds(now)) : SharedLink::kEndless;
}

double TwinOwnLink::bytes_felt(double bytes, Time now) {
  const double own = rate(now);
  return own < SharedLink::kEndless ? std::max(0.0, bytes - burst_s_ * own) : bytes;
}

}  // namespace orrery
