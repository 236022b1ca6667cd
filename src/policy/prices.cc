#include "policy/prices.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

constexpr double kSteepness = 1000;  // of prices, from an idle to a full cluster
constexpr std::size_t kNoted = 256;  // jobs by which others are measured
constexpr std::size_t kFew = 10;

}  // namespace

void Prices::note(const ElasticJob& job) {
  const double gpu_s = job.work / (job.ladder->steps().front().slope * job.factor);
  if (noted_.size() == kNoted) {
    sorted_.erase(std::ranges::lower_bound(sorted_, noted_[oldest_]));
    noted_[oldest_] = gpu_s;
    oldest_ = (oldest_ + 1) % kNoted;
  } else {
    noted_.push_back(gpu_s);
  }
  sorted_.insert(std::ranges::upper_bound(sorted_, gpu_s), gpu_s);
}

double Prices::dearest() const {
  if (sorted_.size() < kFew || nearly_all_ >= 1) return std::numeric_limits<double>::infinity();
  return sorted_[static_cast<std::size_t>(nearly_all_ * static_cast<double>(sorted_.size()))];
}

double Prices::price(const ElasticJob& job, const SharePlan& plan, const FreeGpus& free,
                     int total) const {
  double sum = 0;
  for (std::size_t k = 0; k < plan.segments.size(); ++k) {
    const Time from = plan.segments[k].from;
    const Time until = plan.until(k);
    const int room = job.room(plan.segments[k].rung);
    if (room == 0) continue;
    for (std::size_t i = free.step_at(from); i < free.size() && free.begin(i) < until; ++i) {
      const Duration length = std::min(until, free.end(i)) - std::max(from, free.begin(i));
      const double load = 1 - static_cast<double>(free.free(i) - room) / total;
      sum += room * seconds(length) * (std::pow(kSteepness, load) - 1) / (kSteepness - 1);
    }
  }
  return sum;
}

}  // namespace orrery
