#include "report/metrics/fairness_sums.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr double kRounding = 1e-9;  // a job that nothing delayed has a rho of 1

}  // namespace

void FairnessSums::advance(Time now) {
  job_s_ += static_cast<double>(present_) * seconds(now - now_);
  now_ = now;
}

std::int32_t FairnessSums::submit(Time now, const JobSpec& spec) {
  advance(now);
  ++present_;
  const std::int32_t place = stays_.open();
  stays_[place] = {.from = now,
                   .job_s_before = job_s_,
                   .start_s = seconds(spec.start_cost),
                   .duration_s = spec.duration_s(),
                   .gpus = spec.gpus};
  return place;
}

std::optional<double> FairnessSums::leave(Time now, std::int32_t place) {
  advance(now);
  --present_;
  const Stay stay = stays_[place];
  stays_.close(place);
  const double took_s = seconds(now - stay.from);
  if (!(took_s > 0) || !(stay.duration_s > 0) || gpus_total_ == 0) return std::nullopt;
  const double jobs = (job_s_ - stay.job_s_before) / took_s;
  const double slower = std::max(1.0, jobs * stay.gpus / gpus_total_);
  return took_s / (stay.start_s + stay.duration_s * slower);
}

void FairnessSums::count(double rho) {
  ++counted_;
  above_1_ += rho > 1 + kRounding;
  sum_ += rho;
  squares_ += rho * rho;
  largest_ = std::max(largest_, rho);
}

void FairnessSums::add_figures(RunSummary& summary) const {
  if (counted_ == 0) return;
  const auto jobs = static_cast<double>(counted_);
  summary.avg_rho = sum_ / jobs;
  summary.max_rho = largest_;
  summary.unfair_ratio = static_cast<double>(above_1_) / jobs;
  summary.jain_index = sum_ * sum_ / (jobs * squares_);
}

}  // namespace orrery
