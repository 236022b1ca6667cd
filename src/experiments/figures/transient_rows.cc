#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "cloud/models/fit.h"
#include "experiments/figures/reproduce_transient.h"

namespace orrery {
namespace {

using Rows = std::vector<TransientRow>;
using Number = std::optional<double>;

constexpr std::array<const char*, 3> kRegionZones = {"us-east1-c", "us-central1-c", "us-west1-b"};

Number number(const Analysis& analysis, std::string_view table, std::string_view config,
              std::string_view metric) {
  const auto text = value_of(analysis.rows, table, config, metric);
  double value = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) {
    return std::nullopt;
  }
  return value;
}

void add(Rows& rows, std::string figure, std::string what, Number published, Number recomputed,
         Number ours) {
  if (!published && !recomputed) return;
  TransientRow row;
  row.published = published, row.reference = recomputed, row.ours = ours;
  row.figure = std::move(figure), row.what = std::move(what);
  rows.push_back(std::move(row));
}

// The steps a second that the models give a configuration.
Number predicted_speed(const FittedModels& models, const TrainingSetup& setup) {
  if (!models.cluster_speed) return std::nullopt;
  std::vector<WorkerPlace> workers;
  for (const MeasuredGpu gpu : kMeasuredGpus) {
    for (int i = 0; i < setup.workers[static_cast<std::size_t>(gpu)]; ++i) {
      workers.push_back({std::string(text_of(gpu)), kRegionZones[0]});
    }
  }
  std::size_t next = 0;
  for (std::size_t region = 0; region < setup.by_region.size(); ++region) {
    for (int i = 0; i < setup.by_region[region]; ++i) workers[next++].zone = kRegionZones[region];
  }
  const auto speed =
      models.cluster_speed->steps_per_s(workers, setup.parameter_servers, kRegionZones[0]);
  return speed.ok() ? Number(speed.value()) : std::nullopt;
}

std::string figure_of(const TrainingSetup& setup) {
  if (setup.experiment == "experiment_1ps_vs_2ps") return "6";
  if (setup.experiment == "experiment_cross_region") return "7";
  if (setup.experiment == "experiment_mixed_gpu") return "8";
  return "tables";
}

// Published: means of the authors' processed files, truncated runs included as they are there.
void add_config(const ConfigFacts& config, const FittedModels& models, Rows& rows) {
  std::vector<double> duration_s, cost, formula;
  for (const RunFacts& run : config.runs) {
    if (run.run->published) duration_s.push_back(run.run->published->duration_s);
    if (run.run->cost) cost.push_back(run.run->cost->usd);
    if (run.completed() && run.cost_usd) formula.push_back(*run.cost_usd);
  }
  const auto mean = [](const std::vector<double>& values) {
    return values.empty() ? std::nullopt : Number(spread_of(values).mean);
  };
  const Number speed = predicted_speed(models, config.setup());
  const Number time = speed ? Number(kTrainingSteps / *speed) : std::nullopt;
  const Number measured =
      config.measured_s.count > 0 ? Number(config.measured_s.mean) : std::nullopt;
  const std::string figure = figure_of(config.setup());
  add(rows, figure, config.config() + ": time, s", mean(duration_s), measured, time);
  add(rows, figure, config.config() + ": cost, $", mean(cost), mean(formula),
      time ? Number(config.rate_usd_s * *time) : std::nullopt);
}

void add_headlines(const Analysis& analysis, const FittedModels& models, Rows& rows) {
  TrainingSetup eight{.experiment = "k80_spot", .name = "8-spot", .workers = {8, 0, 0}};
  eight.parameter_servers = 1;
  TrainingSetup one{.experiment = "k80_on_demand", .name = "k80-demand", .workers = {1, 0, 0}};
  const Number fast = predicted_speed(models, eight), slow = predicted_speed(models, one);
  add(rows, "tables", "8 transient K80 over 1 K80: times as fast", 7.7,
      number(analysis, "vs_baseline", "k80_spot/8-spot", "speedup_vs_1k80_ondemand"),
      fast && slow ? Number(*fast / *slow) : std::nullopt);
  const ConfigFacts* demand = find_config(analysis.configs, "k80_on_demand/8-demand");
  const ConfigFacts* spot = find_config(analysis.configs, "k80_spot/8-spot");
  add(rows, "tables", "8 transient K80 over 8 on-demand: % cheaper", 62.9,
      number(analysis, "spot_vs_ondemand", "8xK80", "cost_saving_pct"),
      demand && spot ? Number(100 * (1 - spot->rate_usd_s / demand->rate_usd_s)) : std::nullopt);
}

void add_losses(const Analysis& analysis, Rows& rows) {
  for (const AnalysisRow& row : analysis.rows) {
    if (row.table != "revocation_predict" || row.metric != "actual_duration_s") continue;
    const std::string figure = row.config.starts_with("8") ? "4" : "1";
    add(rows, figure, row.config + ": time with losses, s",
        number(analysis, row.table, row.config, row.metric), std::nullopt,
        number(analysis, row.table, row.config, "predicted_duration_s"));
  }
}

void add_lifetimes(const Analysis& analysis, Rows& rows) {
  const auto share = [&](std::string_view table, std::string_view config, std::string_view metric) {
    const Number value = number(analysis, table, config, metric);
    return value ? Number(100 * *value) : value;
  };
  // The plotted curves add revoked training servers to the measured ones: 42 P100 and 66 V100.
  constexpr double kP100Drawn = 100.0 * (8 + 2) / 42, kV100Drawn = 100.0 * 18 / 66;
  add(rows, "3", "P100 revoked within 24 h, %", kP100Drawn,
      share("lifetime_cdf", "P100 2019", "F(24h)"),
      share("lifetime_km", "P100 with training servers", "F(24h)"));
  add(rows, "3", "V100 revoked within 1 h, %", kV100Drawn,
      share("lifetime_cdf", "V100 2019", "F(1h)"),
      share("lifetime_km", "V100 with training servers", "F(1h)"));
  for (const std::string_view group : {"K80 all", "CPU(PS) 2018"}) {
    add(rows, "3", fmt::format("{} revoked within 24 h, %", group), std::nullopt,
        share("lifetime_cdf", group, "F(24h)"), share("lifetime_km", group, "F(24h)"));
  }
  // The authors' rate is 0.00033254 a minute.
  add(rows, "3", "K80: revocations an hour", 0.00033254 * 60,
      number(analysis, "lifetime_fit", "K80 all", "exp_rate_per_h"),
      number(analysis, "lifetime_fit", "K80 all", "exp_rate_per_h"));
}

// Published errors come from a random split with samples of one network on both sides. Ours leave
// whole networks out.
void add_cm_dare(const Analysis& analysis, Rows& rows) {
  const auto held_out = [&](std::string_view config) {
    return number(analysis, "cmdare_fit", config, "lomo_mape_pct");
  };
  const auto add_error = [&](std::string_view what, double published, std::string_view config) {
    if (const Number ours = held_out(config)) {
      add(rows, "cm-dare", std::string(what), published, std::nullopt, ours);
    }
  };
  add_error("step time K80, SVR radial: error %", 9.07, "K80 svr_rbf");
  add_error("step time K80, SVR square: error %", 9.96, "K80 svr_poly");
  add_error("step time P100, SVR radial: error %", 10.48, "P100 svr_rbf");
  add_error("step time P100, SVR square: error %", 13.79, "P100 svr_poly");
  if (const Number ours = number(analysis, "model", "checkpoint_s=a+b*MB", "lomo_mape_pct")) {
    add(rows, "cm-dare", "checkpoint time, linear: error %", 7.98, std::nullopt, ours);
  }
}

}  // namespace

std::vector<TransientRow> transient_rows(const PublishedData& data, const Analysis& analysis) {
  Rows rows;
  const FittedModels models = fit_models(data);
  add_headlines(analysis, models, rows);
  for (const ConfigFacts& config : analysis.configs) {
    if (config.duration_s.count > 0) add_config(config, models, rows);
  }
  add_losses(analysis, rows);
  add_lifetimes(analysis, rows);
  for (const auto& [name, what, paper] :
       {std::tuple("lr_baseline", "one K80", 93.01), std::tuple("lr_case1", "naive", 91.75),
        std::tuple("lr_case2", "adaptive", 92.85)}) {
    const Number seen = number(analysis, "adaptive_lr", name, "final_accuracy");
    if (seen) {
      add(rows, "5", fmt::format("learning rate, {}: accuracy, %", what), paper, 100 * *seen,
          std::nullopt);
    }
  }
  add_cm_dare(analysis, rows);
  return rows;
}

}  // namespace orrery
