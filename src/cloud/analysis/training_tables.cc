#include <fmt/format.h>

#include <cmath>
#include <string>

#include "cloud/analysis/tables.h"

namespace orrery {
namespace {

constexpr std::string_view kBaseline = "k80_on_demand/k80-demand";

void add_spread(RowWriter& write, std::string_view name, const Spread& spread) {
  const std::string prefix(name);
  write.add(prefix + "_mean", spread.mean, spread.count);
  write.add(prefix + "_std_pop", spread.deviation_all, spread.count);
  write.add(prefix + "_std_sample", spread.deviation_sample, spread.count);
  write.add(prefix + "_min", spread.least, spread.count);
  write.add(prefix + "_max", spread.most, spread.count);
}

std::size_t runs_with_results(const ConfigFacts& config) {
  std::size_t count = 0;
  for (const RunFacts& run : config.runs) count += run.run->published.has_value();
  return count;
}

// True if cost.csv is not what its own durations cost in any run, so that nothing can rest on it.
bool has_foreign_costs(const ConfigFacts& config) {
  std::size_t wrong = 0, all = 0;
  for (const RunFacts& run : config.runs) {
    if (!run.run->cost || !run.cost_usd) continue;
    all += 1;
    wrong += std::abs(run.run->cost->usd / *run.cost_usd - 1) > 1e-6;
  }
  return all > 0 && wrong == all;
}

// The mean cost that comparisons use: what the authors charged where they say it and it can be.
double mean_cost(const ConfigFacts& config) {
  const bool usable = config.cost_file.count > 0 && !has_foreign_costs(config);
  return usable ? config.cost_file.mean : config.cost_nominal.mean;
}

void add_baseline_rows_of(const ConfigFacts& config, const ConfigFacts& base, RowWriter& write) {
  write.of("vs_baseline", config.config());
  write.add("speedup_vs_1k80_ondemand", base.duration_s.mean / config.duration_s.mean);
  const auto saving = [&](double cost) { return 100 * (1 - cost / mean_cost(base)); };
  std::string note;
  if (has_foreign_costs(config)) {
    note = fmt::format("by the formula: cost.csv does not fit its durations and would give {}",
                       number_text(saving(config.cost_file.mean)));
  }
  write.add("cost_saving_pct_vs_1k80_ondemand", saving(mean_cost(config)), {}, note);
  write.add("accuracy_delta_pp", 100 * (config.accuracy.mean - base.accuracy.mean));
}

}  // namespace

void add_price_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  RowWriter write(rows);
  const auto add = [&](std::string_view name, double usd_s) {
    write.of("price", name)
        .add("usd_per_s", usd_s, {}, fmt::format("usd_per_h={:.5f}", usd_s * 3600));
  };
  add("k80_od", inputs.rates.k80_on_demand);
  add("k80", inputs.rates.spot[0]);
  add("p100", inputs.rates.spot[1]);
  add("v100", inputs.rates.spot[2]);
  add("ps", inputs.rates.parameter_server);
}

void add_training_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  RowWriter write(rows);
  for (const ConfigFacts& config : inputs.configs) {
    write.of("training", config.config());
    write.add_count("runs_total", runs_with_results(config));
    write.add_count("runs_completed", config.duration_s.count);
    if (config.duration_s.count == 0) continue;
    add_spread(write, "duration_s", config.duration_s);
    add_spread(write, "accuracy", config.accuracy);
    write.add("speed_steps_per_s", config.steps_per_s(), config.duration_s.count);
    write.add("nominal_rate_usd_per_s", config.rate_usd_s);
    add_spread(write, "cost_nominal_usd", config.cost_nominal);
    if (config.cost_file.count > 0) add_spread(write, "cost_file_usd", config.cost_file);
    write.add_count("raw_recomputed_runs", config.measured_s.count);
    write.add("raw_recomputed_duration_mean_s", config.measured_s.mean, config.measured_s.count);
  }
}

void add_baseline_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  const ConfigFacts* base = find_config(inputs.configs, kBaseline);
  if (base == nullptr) return;
  RowWriter write(rows);
  for (const ConfigFacts& config : inputs.configs) {
    if (config.duration_s.count > 0) add_baseline_rows_of(config, *base, write);
  }
  for (const int workers : {2, 4, 8}) {
    const ConfigFacts* demand =
        find_config(inputs.configs, fmt::format("k80_on_demand/{}-demand", workers));
    const ConfigFacts* spot = find_config(inputs.configs, fmt::format("k80_spot/{}-spot", workers));
    if (demand == nullptr || spot == nullptr) continue;
    write.of("spot_vs_ondemand", fmt::format("{}xK80", workers));
    write.add("cost_saving_pct", 100 * (1 - mean_cost(*spot) / mean_cost(*demand)));
    write.add("time_change_pct", 100 * (spot->duration_s.mean / demand->duration_s.mean - 1));
    write.add("accuracy_delta_pp", 100 * (spot->accuracy.mean - demand->accuracy.mean));
  }
  write.of("vs_baseline", "1xK80 transient (hypothetical, same time)");
  const double saving = 100 * (1 - inputs.rates.spot[0] / inputs.rates.k80_on_demand);
  write.add("cost_usd", inputs.rates.spot[0] * base->duration_s.mean, {},
            fmt::format("saving_pct={:.3f}", saving));
}

}  // namespace orrery
