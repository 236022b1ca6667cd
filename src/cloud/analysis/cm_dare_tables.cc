#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "base/statistics.h"
#include "cloud/analysis/tables.h"
#include "cloud/models/fit.h"
#include "cloud/models/server_times.h"
#include "cloud/models/step_time.h"

namespace orrery {
namespace {

using Samples = std::vector<const StepTimeSample*>;

// In the order in which they stand in the data.
std::vector<std::string> gpus_of(const CmDareData& data) {
  std::vector<std::string> gpus;
  for (const StepTimeSample& sample : data.step_times) {
    if (gpus.empty() || gpus.back() != sample.gpu) gpus.push_back(sample.gpu);
  }
  return gpus;
}

Samples samples_of(const CmDareData& data, std::string_view gpu) {
  Samples samples;
  for (const StepTimeSample& sample : data.step_times) {
    if (sample.gpu == gpu) samples.push_back(&sample);
  }
  return samples;
}

std::vector<FitPoint> points_of(const Samples& samples, double StepTimeSample::*x) {
  std::vector<FitPoint> points;
  for (const StepTimeSample* sample : samples) points.push_back({sample->*x, sample->step_s});
  return points;
}

void add_step_times(const Samples& samples, std::string_view gpu, RowWriter& write) {
  std::map<std::string, Samples> models;
  for (const StepTimeSample* sample : samples) models[sample->model].push_back(sample);
  for (const auto& [model, of_model] : models) {
    std::vector<double> step_s;
    for (const StepTimeSample* sample : of_model) step_s.push_back(sample->step_s);
    const Spread spread = spread_of(step_s);
    const std::string note = fmt::format("GFLOPs={:.6f} params={:.0f}", of_model.front()->gflop,
                                         of_model.front()->parameters);
    write.of("cmdare_steptime", fmt::format("{} {}", gpu, model));
    write.add("step_time_s_mean", spread.mean, spread.count, note);
    write.add("step_time_s_std_sample", spread.deviation_sample, spread.count);
  }
}

void add_step_fits(const Samples& samples, std::string_view gpu, RowWriter& write) {
  const std::vector<FitPoint> points = points_of(samples, &StepTimeSample::gflop);
  constexpr std::string_view kNames[] = {"a", "b", "c"};
  const auto add_polynomial = [&](std::string_view formula, int degree) {
    const auto fit = fit_polynomial(points, degree);
    if (!fit.ok()) return;
    write.of("cmdare_fit", fmt::format("{} step_time={}", gpu, formula));
    for (std::size_t i = 0; i < fit.value().coefficients.size(); ++i) {
      write.add(kNames[i], fit.value().coefficients[i], points.size());
    }
  };
  add_polynomial("a+b*GFLOPs", 1);
  add_polynomial("a+b*g+c*g^2", 2);
  if (const auto fit = fit_power_law(points); fit.ok()) {
    write.of("cmdare_fit", fmt::format("{} step_time=A*g^B", gpu));
    write.add("A", fit.value().factor, points.size());
    write.add("B", fit.value().exponent, points.size());
  }
}

void add_checkpoints(const CmDareData& data, RowWriter& write) {
  const auto fit = fit_checkpoint_time(data.checkpoints);
  if (fit.ok()) {
    write.of("cmdare_fit", "checkpoint_s=a+b*MB");
    write.add("a", fit.value().fixed_s, data.checkpoints.size());
    write.add("b", fit.value().per_mb_s, data.checkpoints.size());
  }
  std::map<std::string, std::vector<const CheckpointSample*>> models;
  for (const CheckpointSample& sample : data.checkpoints) models[sample.model].push_back(&sample);
  for (const auto& [model, samples] : models) {
    std::vector<double> duration_s;
    for (const CheckpointSample* sample : samples) duration_s.push_back(sample->duration_s);
    write.of("cmdare_checkpoint", model)
        .add("duration_s_mean", spread_of(duration_s).mean, samples.size(),
             fmt::format("MB={:.2f}", samples.front()->size_mb));
  }
}

void add_startups(const CmDareData& data, RowWriter& write) {
  for (const StartupTable& table : data.startups) {
    std::vector<double> provisioning_s, staging_s, booting_s, total_s;
    for (const StartupSample& sample : table.samples) {
      provisioning_s.push_back(sample.provisioning_s);
      staging_s.push_back(sample.staging_s);
      booting_s.push_back(sample.booting_s);
      total_s.push_back(sample.total_s());
    }
    const std::size_t n = table.samples.size();
    write.of("cmdare_startup", fmt::format("{}/{}", table.setting, table.gpu));
    write.add("provisioning_s_mean", spread_of(provisioning_s).mean, n);
    write.add("staging_s_mean", spread_of(staging_s).mean, n);
    write.add("booting_s_mean", spread_of(booting_s).mean, n);
    write.add("total_s_mean", spread_of(total_s).mean, n);
    write.add("total_s_std_sample", spread_of(total_s).deviation_sample, n);
  }
}

// The mean error over all samples when each network is predicted by a fit of the other networks.
// `fit` gives a function of x, or an error.
template <typename Fit>
Result<double> held_out_error_pct(const Samples& samples, double StepTimeSample::*x, Fit&& fit) {
  std::set<std::string> models;
  for (const StepTimeSample* sample : samples) models.insert(sample->model);
  double sum = 0;
  for (const std::string& model : models) {
    std::vector<FitPoint> others;
    for (const StepTimeSample* sample : samples) {
      if (sample->model != model) others.push_back({sample->*x, sample->step_s});
    }
    TRY_ASSIGN(const auto fitted, fit(others));
    for (const StepTimeSample* sample : samples) {
      if (sample->model == model) sum += std::abs(fitted.at(sample->*x) / sample->step_s - 1);
    }
  }
  return 100 * sum / static_cast<double>(samples.size());
}

std::size_t models_in(const Samples& samples) {
  std::set<std::string> models;
  for (const StepTimeSample* sample : samples) models.insert(sample->model);
  return models.size();
}

void add_held_out(const Samples& samples, std::string_view config, const Result<double>& error,
                  RowWriter& write) {
  if (!error.ok()) return;
  write.of("cmdare_fit", config)
      .add("lomo_mape_pct", rounded(error.value(), 2), samples.size(),
           fmt::format("leave one model out, {} models", models_in(samples)));
}

}  // namespace

void add_cm_dare_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  const CmDareData& data = inputs.data.cm_dare;
  RowWriter write(rows);
  for (const std::string& gpu : gpus_of(data)) {
    const Samples samples = samples_of(data, gpu);
    add_step_times(samples, gpu, write);
    add_step_fits(samples, gpu, write);
  }
  add_checkpoints(data, write);
  add_startups(data, write);
  for (const ClusterSpeedSeries& series : data.cluster_speeds) {
    std::vector<double> speeds;
    for (const SeriesPoint& point : series.speeds) speeds.push_back(point.value);
    write.of("cmdare_cluster_speed",
             fmt::format("{} {} n={}", series.gpus, series.model, series.workers));
    write.add("median_steps_per_s", median(speeds), speeds.size());
    write.add("mean_steps_per_s", spread_of(speeds).mean, speeds.size());
  }
}

void add_cm_dare_held_out_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  const CmDareData& data = inputs.data.cm_dare;
  RowWriter write(rows);
  const std::vector<std::string> gpus = gpus_of(data);
  for (const std::string& gpu : gpus) {
    const Samples samples = samples_of(data, gpu);
    const auto with = [&](SupportVectors::Kernel kernel) {
      return held_out_error_pct(samples, &StepTimeSample::normalized,
                                [&](std::span<const FitPoint> points) {
                                  return SupportVectors::fit(points, {.kernel = kernel});
                                });
    };
    add_held_out(samples, gpu + " svr_rbf", with(SupportVectors::Kernel::Radial), write);
    add_held_out(samples, gpu + " svr_poly", with(SupportVectors::Kernel::Square), write);
  }
  for (const std::string& gpu : gpus) {
    const Samples samples = samples_of(data, gpu);
    add_held_out(samples, gpu + " power_law",
                 held_out_error_pct(samples, &StepTimeSample::gflop, fit_power_law), write);
  }
}

}  // namespace orrery
