#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "cloud/analysis/tables.h"
#include "cloud/models/fit.h"

namespace orrery {
namespace {

// Each cluster predicted by a fit of the others.
double server_cap_error_pct(const std::vector<ClusterSpeedPoint>& points) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t left = 0; left < points.size(); ++left) {
    std::vector<ClusterSpeedPoint> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
    const auto fit = fit_server_cap(others);
    if (!fit.ok()) continue;
    sum += mean_error_pct(fit.value(), std::span(&points[left], 1));
    count += 1;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

void add_region_delay(const PublishedData& data, const ServerCap& cap, RowWriter& write) {
  std::vector<CrossRegionPoint> points;
  for (const NamedCrossRegionPoint& named : cross_region_points(data)) {
    points.push_back(named.point);
  }
  const auto fit = fit_region_delay(points, cap);
  if (!fit.ok()) return;
  double sum = 0, held_out = 0;
  for (std::size_t left = 0; left < points.size(); ++left) {
    const auto error = [&](const RegionDelay& delay) {
      return std::abs(
          cross_region_steps_per_s(delay, cap, points[left]) / points[left].steps_per_s - 1);
    };
    sum += error(fit.value());
    std::vector<CrossRegionPoint> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
    if (const auto without = fit_region_delay(others, cap); without.ok()) {
      held_out += error(without.value());
    }
  }
  const auto n = static_cast<double>(points.size());
  write.of("model", "region delay of a step");
  write.add("near_s", fit.value().near_s, points.size());
  write.add("far_s", fit.value().far_s, points.size());
  write.add("mape_pct", 100 * sum / n, points.size());
  write.add("heldout_mape_pct", 100 * held_out / n, points.size(), "leave one cluster out");
}

// A network and a GPU are predicted by a fit of the other networks on both GPUs.
void add_step_time(const CmDareData& data, RowWriter& write) {
  const auto fit = fit_step_time(data.step_times);
  if (!fit.ok()) return;
  double held_out = 0;
  for (const StepTimeSample& sample : data.step_times) {
    held_out += std::abs(fit.value().step_s(sample.gflop, sample.tflops) / sample.step_s - 1);
  }
  std::vector<std::string> models;
  for (const StepTimeSample& sample : data.step_times) models.push_back(sample.model);
  std::ranges::sort(models);
  models.erase(std::unique(models.begin(), models.end()), models.end());
  double left_out = 0;
  for (const std::string& model : models) {
    std::vector<StepTimeSample> others;
    std::ranges::copy_if(data.step_times, std::back_inserter(others),
                         [&](const StepTimeSample& sample) { return sample.model != model; });
    const auto without = fit_step_time(others);
    if (!without.ok()) return;
    for (const StepTimeSample& sample : data.step_times) {
      if (sample.model != model) continue;
      left_out += std::abs(without.value().step_s(sample.gflop, sample.tflops) / sample.step_s - 1);
    }
  }
  const auto n = static_cast<double>(data.step_times.size());
  write.of("model", "step_time=A*g^B*c^C");
  write.add("A", fit.value().factor, data.step_times.size());
  write.add("B", fit.value().exponent, data.step_times.size());
  write.add("C", fit.value().capacity_exponent, data.step_times.size());
  write.add("mape_pct", 100 * held_out / n, data.step_times.size());
  write.add("lomo_mape_pct", 100 * left_out / n, data.step_times.size(),
            fmt::format("leave one model out, {} models", models.size()));
}

void add_revocation_model(const std::vector<LifetimeRecord>& lifetimes, RowWriter& write) {
  if (const auto held_out = held_out_likelihood(lifetimes); held_out.ok()) {
    write.of("model", "revocation");
    const std::string note = "ten parts, each predicted by the others; higher is better";
    const std::size_t n = held_out.value().servers;
    write.add("heldout_loglik_exponential", held_out.value().exponential, n, note);
    write.add("heldout_loglik_weibull", held_out.value().weibull, n, note);
    write.add("heldout_loglik_weibull_zone", held_out.value().weibull_zone, n, note);
  }
  const RevocationModel model = RevocationModel::fit(lifetimes);
  std::vector<std::pair<std::string, std::string>> places;
  for (const LifetimeRecord& record : lifetimes) places.emplace_back(record.gpu, record.zone);
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const auto& [gpu, zone] : places) {
    const auto lifetime = model.lifetime(gpu, zone);
    if (!lifetime.ok()) continue;
    write.of("model_hazard", fmt::format("{} {}", gpu, zone));
    write.add("zone_factor", model.zone_factor(gpu, zone));
    for (const int hour : {0, 1, 6, 12}) {
      write.add(fmt::format("hazard_per_h({}h)", hour),
                lifetime.value().hazard_per_h(std::chrono::hours(hour)));
    }
    write.add("mean_life_h", seconds(lifetime.value().mean_residual({})) / 3600);
  }
}

}  // namespace

void add_model_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  RowWriter write(rows);
  std::vector<ClusterSpeedPoint> points;
  for (const NamedSpeedPoint& named : server_cap_points(inputs.data)) points.push_back(named.point);
  if (const auto cap = fit_server_cap(points); cap.ok()) {
    write.of("model", "parameter-server cap")
        .add("heldout_mape_pct", server_cap_error_pct(points), points.size(),
             "leave one cluster out");
    add_region_delay(inputs.data, cap.value(), write);
  }
  add_step_time(inputs.data.cm_dare, write);
  if (const auto error = checkpoint_error_pct(inputs.data.cm_dare.checkpoints);
      error.ok() && !inputs.data.cm_dare.checkpoints.empty()) {
    write.of("model", "checkpoint_s=a+b*MB")
        .add("lomo_mape_pct", error.value(), inputs.data.cm_dare.checkpoints.size());
  }
  if (!inputs.data.lifetimes.empty()) add_revocation_model(inputs.data.lifetimes, write);
}

}  // namespace orrery
