#include "cloud/models/server_times.h"

#include <cmath>
#include <set>

#include "cloud/models/step_time.h"

namespace orrery {

Result<CheckpointTime> fit_checkpoint_time(std::span<const CheckpointSample> samples) {
  std::vector<FitPoint> points;
  for (const CheckpointSample& sample : samples) {
    points.push_back({sample.size_mb, sample.duration_s});
  }
  TRY_ASSIGN(const Polynomial line, fit_polynomial(points, 1));
  return CheckpointTime{line.coefficients[0], line.coefficients[1]};
}

Result<double> checkpoint_error_pct(std::span<const CheckpointSample> samples) {
  std::set<std::string> models;
  for (const CheckpointSample& sample : samples) models.insert(sample.model);
  double sum = 0;
  for (const std::string& model : models) {
    std::vector<CheckpointSample> others;
    for (const CheckpointSample& sample : samples) {
      if (sample.model != model) others.push_back(sample);
    }
    TRY_ASSIGN(const CheckpointTime fitted, fit_checkpoint_time(others));
    for (const CheckpointSample& sample : samples) {
      if (sample.model != model) continue;
      sum += std::abs(fitted.seconds_for(sample.size_mb) / sample.duration_s - 1);
    }
  }
  return 100 * sum / static_cast<double>(samples.size());
}

StartupTimes::StartupTimes(std::span<const StartupTable> tables) {
  for (const StartupTable& table : tables) {
    auto& samples = samples_[{table.gpu, table.preemptible}];
    samples.insert(samples.end(), table.samples.begin(), table.samples.end());
  }
}

Result<std::vector<StartupSample>> StartupTimes::samples_of(std::string_view gpu,
                                                            bool preemptible) const {
  const auto found = samples_.find(std::pair(std::string(gpu), preemptible));
  if (found != samples_.end()) return found->second;
  std::vector<StartupSample> all;
  for (const auto& [key, samples] : samples_) {
    if (key.second == preemptible) all.insert(all.end(), samples.begin(), samples.end());
  }
  if (all.empty()) return Error{Code::NotFound, "no start-up times were measured"};
  return all;
}

Result<StartupSample> StartupTimes::sample(std::string_view gpu, bool preemptible,
                                           Random& random) const {
  TRY_ASSIGN(const std::vector<StartupSample> samples, samples_of(gpu, preemptible));
  const auto last = static_cast<std::int64_t>(samples.size()) - 1;
  return samples[static_cast<std::size_t>(random.between(0, last))];
}

Result<StartupTimes::Summary> StartupTimes::summary(std::string_view gpu, bool preemptible) const {
  TRY_ASSIGN(const std::vector<StartupSample> samples, samples_of(gpu, preemptible));
  Summary summary{.samples = samples.size()};
  const auto n = static_cast<double>(samples.size());
  for (const StartupSample& sample : samples) summary.mean_s += sample.total_s() / n;
  for (const StartupSample& sample : samples) {
    summary.deviation_s += std::pow(sample.total_s() - summary.mean_s, 2);
  }
  summary.deviation_s = n > 1 ? std::sqrt(summary.deviation_s / (n - 1)) : 0;
  return summary;
}

}  // namespace orrery
