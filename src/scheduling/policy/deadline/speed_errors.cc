#include "scheduling/policy/deadline/speed_errors.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr double kLongEnough_s = 1;  // to measure a speed where rounds cost nothing
constexpr double kManyRounds = 20;   // ...and where they do
constexpr double kExact = 1e-6;      // an error below this is rounding
constexpr double kSlowest = 0.05;    // a factor below this is a measurement gone wrong
constexpr double kNearlyAll = 0.02;  // the part of jobs that may be slower still

}  // namespace

SpeedErrors::SpeedErrors(double margin) : margin_(margin), long_enough_s_(kLongEnough_s) {}

void SpeedErrors::expect_rounds(Duration apart, Duration cost, Duration restart) {
  if (cost <= Duration::zero() || apart <= Duration::zero()) return;
  once_s_ = seconds(restart + cost);
  lost_ = std::min(0.9, seconds(cost) / seconds(apart));
  long_enough_s_ = kManyRounds * seconds(apart);
}

double SpeedErrors::margin() const {
  if (margin_ >= 0) return margin_;
  if (measured_.empty()) return 0;
  const auto at = static_cast<std::size_t>(kNearlyAll * static_cast<double>(measured_.size()));
  return std::clamp(1 - measured_[at], 0.0, 0.9);
}

double SpeedErrors::optimistic() const {
  return measured_.empty() ? 1 + std::max(margin_, 0.0) : std::max(1.0, measured_.back());
}

void SpeedErrors::look(const View& view, ElasticJob& job) {
  if (job.now.held > 0) {
    const double starts_s = lost_ == 0 ? 0 : once_s_ + 2 * seconds(job.start_cost);
    const Time from = std::max(job.now.ready, view.job(job.id).worked_until);
    const double worked_s = seconds(view.now - from) - starts_s;
    const double expected = (*job.curve)[job.now.held].speed * worked_s;
    if (worked_s >= long_enough_s_ && expected > 0) {
      double factor = (view.job(job.id).work_left - job.now.work) / expected;
      if (std::abs(factor - 1) < kExact) factor = 1;
      if (factor > kSlowest && (lost_ == 0 || factor < 1 - lost_)) {
        if (!job.now.measured)
          measured_.insert(std::ranges::upper_bound(measured_, factor), factor);
        job.now.measured = true;
        job.now.factor = factor;
      }
    }
  }
  if (!job.now.measured) job.now.factor = (1 - margin()) * (1 - lost_);
  // What was seen went through rounds, of which there may be none from now on.
  job.now.optimistic = job.now.measured ? job.now.factor / (1 - lost_) : optimistic();
}

}  // namespace orrery
