#include <fmt/format.h>

#include <array>
#include <string>

#include "cloud/analysis/tables.h"
#include "cloud/models/fit.h"

namespace orrery {
namespace {

constexpr int kWorkersMost = 8;

struct ServerRuns {
  const ConfigFacts* one = nullptr;  // with one parameter server
  const ConfigFacts* two = nullptr;
};

ServerRuns runs_with(const TableInputs& inputs, int workers, char gpu) {
  const auto find = [&](int servers) {
    return find_config(inputs.configs,
                       fmt::format("experiment_1ps_vs_2ps/{}ps{}{}", servers, workers, gpu));
  };
  return {find(1), find(2)};
}

const SingleTraining* find_single(const PublishedData& data, int workers) {
  for (const SingleTraining& single : data.singles) {
    if (single.workers == workers && result_of(single.evaluations)) return &single;
  }
  return nullptr;
}

// How many times as fast as one server of the GPU.
void add_scaling(RowWriter& write, std::string_view metric, double single, double duration_s) {
  if (single > 0 && duration_s > 0) write.add(metric, kTrainingSteps / duration_s / single);
}

}  // namespace

void add_server_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  RowWriter write(rows);
  for (const SingleTraining& single : inputs.data.singles) {
    const auto result = result_of(single.evaluations);
    if (!result) continue;
    write.of("ps", fmt::format("1ps{}k", single.workers));
    write.add("duration_s", result->duration_s, 1);
    write.add("accuracy", result->accuracy, 1);
    write.add("speed_steps_per_s", kTrainingSteps / result->duration_s, 1);
  }
  const std::array<double, 3> speeds = single_speeds(inputs.data);
  for (int workers = 2; workers <= kWorkersMost; ++workers) {
    const ServerRuns v100 = runs_with(inputs, workers, 'v'), k80 = runs_with(inputs, workers, 'k');
    const SingleTraining* single = find_single(inputs.data, workers);
    const double one_k80_s = single == nullptr ? 0 : result_of(single->evaluations)->duration_s;
    const std::string of_k80 = fmt::format("{}xK80", workers);
    if (k80.two != nullptr && single != nullptr) {
      write.of("ps", of_k80);
      write.add("speedup_2ps_over_1ps", one_k80_s / k80.two->duration_s.mean, {},
                fmt::format("1ps single run, 2ps mean of {}", k80.two->duration_s.count));
    }
    if (v100.one != nullptr && v100.two != nullptr) {
      write.of("ps", fmt::format("{}xV100", workers));
      write.add("speedup_2ps_over_1ps", v100.one->duration_s.mean / v100.two->duration_s.mean);
      add_scaling(write, "scaling_1ps_vs_1v100", speeds[2], v100.one->duration_s.mean);
      add_scaling(write, "scaling_2ps_vs_1v100", speeds[2], v100.two->duration_s.mean);
    }
    write.of("ps", of_k80);
    add_scaling(write, "scaling_1ps_vs_1k80", speeds[0], one_k80_s);
    if (k80.two != nullptr) {
      add_scaling(write, "scaling_2ps_vs_1k80", speeds[0], k80.two->duration_s.mean);
    }
  }
}

void add_region_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  RowWriter write(rows);
  for (const ConfigFacts& config : inputs.configs) {
    const TrainingSetup& setup = config.setup();
    if (setup.by_region.empty() || config.duration_s.count == 0) continue;
    const bool p100 = setup.workers[1] > 0;
    const ConfigFacts* one_zone =
        find_config(inputs.configs, p100 ? "p100_v100_spot/4p100" : "k80_on_demand/4-demand");
    if (one_zone == nullptr) continue;
    write.of("cross_region",
             setup.name.substr(0, setup.name.find('-')) + (p100 ? " P100" : " K80"));
    write.add(p100 ? "slowdown_pct_vs_4p100_one_zone" : "slowdown_pct_vs_4k80_ondemand_one_zone",
              100 * (config.duration_s.mean / one_zone->duration_s.mean - 1));
  }
}

void add_mixed_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  const std::array<double, 3> speeds = single_speeds(inputs.data);
  const ConfigFacts* four = find_config(inputs.configs, "k80_on_demand/4-demand");
  RowWriter write(rows);
  for (const ConfigFacts& config : inputs.configs) {
    if (config.setup().experiment != "experiment_mixed_gpu" || config.duration_s.count == 0)
      continue;
    double sum = 0;
    for (std::size_t gpu = 0; gpu < 3; ++gpu) sum += config.setup().workers[gpu] * speeds[gpu];
    write.of("mixed", config.setup().name);
    if (four != nullptr) {
      write.add("speedup_vs_4k80_ondemand", four->duration_s.mean / config.duration_s.mean);
    }
    write.add("sum_of_single_speeds_steps_per_s", sum);
    write.add("measured_speed_steps_per_s", config.steps_per_s());
    if (sum > 0) write.add("efficiency", config.steps_per_s() / sum);
  }
}

void add_server_cap_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  const std::vector<NamedSpeedPoint> named = server_cap_points(inputs.data);
  std::vector<ClusterSpeedPoint> points;
  for (const NamedSpeedPoint& each : named) points.push_back(each.point);
  const auto fit = fit_server_cap(points);
  if (!fit.ok()) return;
  RowWriter write(rows);
  for (const NamedSpeedPoint& each : named) {
    const ClusterSpeedPoint& point = each.point;
    write.of("ps_softmin", each.name);
    write.add(
        "measured_steps_per_s", point.steps_per_s, {},
        fmt::format("npS={} sum_single={:.6f}", point.parameter_servers, point.sum_of_workers));
    write.add("model_steps_per_s",
              fit.value().steps_per_s(point.sum_of_workers, point.parameter_servers));
  }
  const std::string note = "s=(sum^-p+cap^-p)^(-1/p); minimises mean abs rel error";
  write.of("ps_softmin", "fit");
  write.add("cap_1ps", fit.value().cap_1, points.size(), note);
  write.add("cap_2ps", fit.value().cap_2, points.size(), note);
  write.add("p", fit.value().power, points.size(), note);
  write.add("mape_pct", mean_error_pct(fit.value(), points), points.size());
}

void add_server_cap_held_out_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  std::vector<ClusterSpeedPoint> kept, left_out;
  for (const NamedSpeedPoint& each : server_cap_points(inputs.data)) {
    (each.held_out ? left_out : kept).push_back(each.point);
  }
  const auto fit = fit_server_cap(kept);
  if (!fit.ok() || left_out.empty()) return;
  RowWriter write(rows);
  write.of("ps_softmin", "fit without 4P/4V/mixed");
  write.add("heldout_mape_pct", rounded(mean_error_pct(fit.value(), left_out), 2), left_out.size(),
            fmt::format("cap1={:.2f} cap2={:.2f} p={:.2f} train_mape_pct={:.2f} n_train={}",
                        fit.value().cap_1, fit.value().cap_2, fit.value().power,
                        mean_error_pct(fit.value(), kept), kept.size()));
}

}  // namespace orrery
