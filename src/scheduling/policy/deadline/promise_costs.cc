#include "scheduling/policy/deadline/promise_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

constexpr double kSteepness = 1000;  // of costs, from an idle to a full cluster
constexpr std::size_t kNoted = 256;  // jobs by which others are measured
constexpr std::size_t kFew = 10;
constexpr std::size_t kEnough = kNoted / 2;  // to measure the demand, which large jobs make up

}  // namespace

void PromiseCosts::note(const ElasticJob& job, int total) {
  const Noted fresh{
      .gpu_s = job.now.work / (job.curve->hull_edges().front().slope * job.now.factor),
      .submitted = job.spec->submitted,
      .slack = job.deadline - job.spec->submitted};
  if (noted_.size() == kNoted) {
    sorted_.erase(std::ranges::lower_bound(sorted_, noted_[oldest_].gpu_s));
    noted_[oldest_] = fresh;
    oldest_ = (oldest_ + 1) % kNoted;
  } else {
    noted_.push_back(fresh);
  }
  sorted_.insert(std::ranges::upper_bound(sorted_, fresh.gpu_s), fresh.gpu_s);
  if (sorted_.size() >= kEnough && nearly_all_ < 1) measure_demand(total);
}

// There is the GPU-time from the first of these submissions until half of the jobs must be done
// that come with the last one.
void PromiseCosts::measure_demand(int total) {
  slacks_.clear();
  for (const Noted& noted : noted_) slacks_.push_back(noted.slack);
  const auto middle = slacks_.begin() + static_cast<std::ptrdiff_t>(slacks_.size() / 2);
  std::ranges::nth_element(slacks_, middle);
  const Noted& newest = noted_[(oldest_ + noted_.size() - 1) % noted_.size()];
  const double given_s =
      total * seconds(newest.submitted - noted_[oldest_].submitted + std::max(*middle, Duration()));
  double taken_s = 0;
  largest_ = std::numeric_limits<double>::infinity();
  for (const double gpu_s : sorted_) {
    taken_s += gpu_s;
    if (taken_s <= given_s) continue;
    largest_ = gpu_s;
    return;
  }
}

double PromiseCosts::budget() const {
  if (sorted_.size() < kFew || nearly_all_ >= 1) return std::numeric_limits<double>::infinity();
  return sorted_[static_cast<std::size_t>(nearly_all_ * static_cast<double>(sorted_.size()))];
}

double PromiseCosts::cost(const ElasticJob& job, const SharePlan& plan, const Timeline& free,
                          int total) const {
  double sum = 0;
  for (std::size_t k = 0; k < plan.segments.size(); ++k) {
    const Time from = plan.segments[k].from;
    const Time until = plan.until(k);
    const int capacity = job.capacity(plan.segments[k].option);
    if (capacity == 0) continue;
    for (std::size_t i = free.step_at(from); i < free.size() && free.from(i) < until; ++i) {
      const Duration length = std::min(until, free.until(i)) - std::max(from, free.from(i));
      const double load = 1 - static_cast<double>(free.gpus(i) - capacity) / total;
      sum += capacity * seconds(length) * (std::pow(kSteepness, load) - 1) / (kSteepness - 1);
    }
  }
  return sum;
}

}  // namespace orrery
