#include "training/mode_selection/tree/worker_times.h"

#include <algorithm>
#include <utility>

#include "base/statistics.h"

namespace orrery {
namespace {

constexpr std::size_t kTimesKept = 5, kTimesLeast = 3;

void keep_newest(std::deque<double>& newest, double value) {
  newest.push_back(value);
  if (newest.size() > kTimesKept) newest.pop_front();
}

}  // namespace

double WorkerTimes::Times::median_s() const {
  return took_s.size() < kTimesLeast ? 0 : upper_median(std::deque<double>(took_s));
}

IterationSample WorkerTimes::add(const IterationSample& sample) {
  IterationSample own = sample;
  const double busy =
      sample.merged ? 0 : std::min(1.0, sample.usage.cpu_share + sample.usage.throttled_share);
  if (sample.merged) {
    const double before_s = times_[sample.worker].before_tree_s;
    if (before_s > 0) own.took = std::min(sample.took, from_seconds(before_s * drift_));
  }
  const double took_s = seconds(own.took);
  pending_.push_back({sample.worker, took_s, busy * took_s, sample.merged});
  return own;
}

void WorkerTimes::take_in() {
  for (const Pending& task : pending_) {
    Times& times = times_[task.worker];
    times.merged = task.merged;
    keep_newest(times.took_s, task.took_s);
    if (task.busy_s > 0) keep_newest(times.busy_s, task.busy_s);
  }
  pending_.clear();
}

void WorkerTimes::refresh(const ParentPairs& tree) {
  take_in();
  drift_ = drift_from(tree);
}

void WorkerTimes::keep_only(std::span<const WorkerId> workers) {
  take_in();
  std::erase_if(times_, [workers](const auto& one) {
    return !std::ranges::binary_search(workers, one.first);
  });
}

void WorkerTimes::tree_begins() {
  for (auto& [worker, times] : times_) times.before_tree_s = times.median_s();
}

// How many times as long as before the tree tasks take that wait for no other. Of the workers that
// hand in by themselves it is the least, since that is what has changed for all.
double WorkerTimes::drift_from(const ParentPairs& tree) const {
  double least = 0;
  for (const auto& [worker, times] : times_) {
    if (std::ranges::binary_search(tree, worker, {}, &ParentPairs::value_type::first)) continue;
    const double now_s = times.median_s();
    if (!(now_s > 0) || !(times.before_tree_s > 0)) continue;
    const double ratio = now_s / times.before_tree_s;
    least = least > 0 ? std::min(least, ratio) : ratio;
  }
  return least > 0 ? least : 1;
}

double WorkerTimes::own_s(const Times& times) const {
  return times.merged ? drift_ * times.before_tree_s : times.median_s();
}

std::vector<WorkerId> WorkerTimes::stragglers(double factor) const {
  std::vector<double> all;
  for (const auto& [worker, times] : times_) {
    if (own_s(times) > 0) all.push_back(own_s(times));
  }
  if (all.empty()) return {};
  const double most_s = factor * upper_median(all);
  std::vector<WorkerId> slow;
  for (const auto& [worker, times] : times_) {
    if (own_s(times) > most_s) slow.push_back(worker);
  }
  return slow;
}

double WorkerTimes::median_busy_s() const {
  std::vector<double> all;
  for (const auto& [worker, times] : times_) {
    if (!times.busy_s.empty()) all.push_back(upper_median(std::deque<double>(times.busy_s)));
  }
  return all.empty() ? 0 : upper_median(all);
}

}  // namespace orrery
