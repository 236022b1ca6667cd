#include "cloud/analysis/summary_text.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/grid.h"

namespace orrery {
namespace {

using Cells = std::vector<std::vector<std::string>>;

// Looks values up in the rows.
class Values {
 public:
  explicit Values(const std::vector<AnalysisRow>& rows) : rows_(rows) {}

  std::optional<double> number(std::string_view table, std::string_view config,
                               std::string_view metric, double factor = 1) const {
    const auto text = value_of(rows_, table, config, metric);
    double value = 0;
    if (!text) return std::nullopt;
    const auto read = std::from_chars(text->data(), text->data() + text->size(), value);
    return read.ec == std::errc() ? std::optional(value * factor) : std::nullopt;
  }

  // A cell; empty if there is no such row.
  std::string cell(std::string_view table, std::string_view config, std::string_view metric,
                   int digits, double factor = 1) const {
    const auto value = number(table, config, metric, factor);
    return value ? fmt::format("{:.{}f}", *value, digits) : "";
  }

 private:
  const std::vector<AnalysisRow>& rows_;
};

// Adds a line if all its values are there.
void add_line(std::string& text, std::string_view format,
              std::initializer_list<std::optional<double>> values) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const auto& value : values) {
    if (!value) return;
    store.push_back(*value);
  }
  text += fmt::vformat(format, store) + "\n";
}

std::string verdict_of(const Values& values, const Analysis& analysis) {
  std::string text;
  add_line(text,
           "8 transient K80 train {:.2f} times as fast as one K80, and {:.1f} % cheaper than 8 "
           "on-demand.",
           {values.number("vs_baseline", "k80_spot/8-spot", "speedup_vs_1k80_ondemand"),
            values.number("spot_vs_ondemand", "8xK80", "cost_saving_pct")});
  add_line(text,
           "A second parameter server makes 8 V100 {:.3f} times as fast; 4 P100 in three regions "
           "take {:.1f} % longer.",
           {values.number("ps", "8xV100", "speedup_2ps_over_1ps"),
            values.number("cross_region", "2e1c1w P100", "slowdown_pct_vs_4p100_one_zone")});
  add_line(text,
           "Revoked within 24 h: {:.0f} of {:.0f} K80, {:.0f} of {:.0f} P100, {:.0f} of "
           "{:.0f} V100.",
           {values.number("lifetime", "K80 all", "revoked_before_24h"),
            values.number("lifetime", "K80 all", "vms"),
            values.number("lifetime", "P100 2019", "revoked_before_24h"),
            values.number("lifetime", "P100 2019", "vms"),
            values.number("lifetime", "V100 2019", "revoked_before_24h"),
            values.number("lifetime", "V100 2019", "vms")});
  add_line(text,
           "Runs that lost workers are predicted within {:.1f} % in the mean, and {:.1f} % if "
           "losses are ignored.",
           {values.number("revocation_predict", "all", "mape_pct"),
            values.number("revocation_predict", "ignore revocations", "mape_pct")});
  add_line(text,
           "A learning rate that follows membership reaches {:.2f} % accuracy, a fixed one "
           "{:.2f} %, one server {:.2f} %.",
           {values.number("adaptive_lr", "lr_case2", "final_accuracy", 100),
            values.number("adaptive_lr", "lr_case1", "final_accuracy", 100),
            values.number("adaptive_lr", "lr_baseline", "final_accuracy", 100)});
  text += fmt::format("{} rows of results contradict others; they are listed at the end.\n",
                      std::ranges::count_if(analysis.inconsistencies, spoils_results));
  return text;
}

std::string part(std::string_view title, std::span<const GridColumn> columns, const Cells& cells) {
  return cells.empty() ? "" : fmt::format("\n{}\n{}", title, grid(columns, cells));
}

std::string configurations(const Values& values, const Analysis& analysis) {
  static const GridColumn kColumns[] = {
      {"configuration", true}, {"runs"},   {"time s"},      {"deviation"}, {"steps/s"},
      {"accuracy %"},          {"cost $"}, {"times 1 K80"}, {"saving %"}};
  Cells cells;
  for (const ConfigFacts& config : analysis.configs) {
    const std::string& name = config.config();
    const bool charged = config.cost_file.count > 0;
    cells.push_back(
        {name,
         fmt::format("{}/{}", values.cell("training", name, "runs_completed", 0),
                     values.cell("training", name, "runs_total", 0)),
         values.cell("training", name, "duration_s_mean", 1),
         values.cell("training", name, "duration_s_std_pop", 1),
         values.cell("training", name, "speed_steps_per_s", 2),
         values.cell("training", name, "accuracy_mean", 2, 100),
         values.cell("training", name, charged ? "cost_file_usd_mean" : "cost_nominal_usd_mean", 4),
         values.cell("vs_baseline", name, "speedup_vs_1k80_ondemand", 2),
         values.cell("vs_baseline", name, "cost_saving_pct_vs_1k80_ondemand", 1)});
  }
  return part("Training: completed runs of all, their mean time and cost", kColumns, cells);
}

std::string revocations(const Values& values, const Analysis& analysis) {
  static const GridColumn kColumns[] = {{"configuration", true}, {"runs"},   {"time s"},
                                        {"deviation"},           {"cost $"}, {"accuracy %"}};
  Cells cells;
  for (const AnalysisRow& row : analysis.rows) {
    if (row.table != "revocation_class" || row.metric != "duration_s_mean") continue;
    cells.push_back({row.config, fmt::format("{}", row.samples.value_or(0)),
                     values.cell(row.table, row.config, "duration_s_mean", 1),
                     values.cell(row.table, row.config, "duration_s_std_pop", 1),
                     values.cell(row.table, row.config, "cost_usd_mean", 4),
                     values.cell(row.table, row.config, "accuracy_mean", 2, 100)});
  }
  return part("Transient K80 by the number r of revoked workers", kColumns, cells);
}

std::string lifetimes(const Values& values, const Analysis& analysis) {
  static const GridColumn kColumns[] = {
      {"servers", true}, {"number"},    {"revoked"},  {"% in 1 h"},      {"% in 6 h"},
      {"% in 12 h"},     {"% in 24 h"}, {"hazard/h"}, {"Weibull shape"}, {"scale h"}};
  Cells cells;
  for (const AnalysisRow& row : analysis.rows) {
    if (row.table != "lifetime_km" || row.metric != "F(1h)") continue;
    std::vector<std::string> line = {row.config, fmt::format("{}", row.samples.value_or(0)),
                                     values.cell("lifetime", row.config, "revoked_before_24h", 0)};
    for (const std::string_view metric : {"F(1h)", "F(6h)", "F(12h)", "F(24h)"}) {
      line.push_back(values.cell("lifetime_km", row.config, metric, 1, 100));
    }
    line.push_back(values.cell("lifetime_fit", row.config, "exp_rate_per_h", 5));
    line.push_back(values.cell("lifetime_fit", row.config, "weibull_shape", 3));
    line.push_back(values.cell("lifetime_fit", row.config, "weibull_scale_h", 1));
    cells.push_back(std::move(line));
  }
  return part("Lifetimes: share revoked by age, censored servers counted (Kaplan-Meier)", kColumns,
              cells);
}

std::string comparisons(const Values& values) {
  static const GridColumn kServers[] = {{"workers", true},
                                        {"2 PS over 1 PS, V100"},
                                        {"2 PS over 1 PS, K80"},
                                        {"1 PS, times one V100"},
                                        {"2 PS, times one V100"}};
  Cells cells;
  for (int workers = 2; workers <= 8; ++workers) {
    const std::string v100 = fmt::format("{}xV100", workers);
    std::vector<std::string> line = {
        fmt::format("{}", workers), values.cell("ps", v100, "speedup_2ps_over_1ps", 3),
        values.cell("ps", fmt::format("{}xK80", workers), "speedup_2ps_over_1ps", 3),
        values.cell("ps", v100, "scaling_1ps_vs_1v100", 2),
        values.cell("ps", v100, "scaling_2ps_vs_1v100", 2)};
    if (!line[1].empty() || !line[2].empty()) cells.push_back(std::move(line));
  }
  std::string text = part("Parameter servers", kServers, cells);

  static const GridColumn kRegions[] = {
      {"workers by region", true}, {"K80: % longer"}, {"P100: % longer"}};
  cells.clear();
  for (const std::string_view name : {"3e1c", "2e2c", "2e1c1w"}) {
    std::vector<std::string> line = {std::string(name),
                                     values.cell("cross_region", fmt::format("{} K80", name),
                                                 "slowdown_pct_vs_4k80_ondemand_one_zone", 1),
                                     values.cell("cross_region", fmt::format("{} P100", name),
                                                 "slowdown_pct_vs_4p100_one_zone", 1)};
    if (!line[1].empty() || !line[2].empty()) cells.push_back(std::move(line));
  }
  text +=
      part("Regions: four workers against one zone (e east, c central, w west)", kRegions, cells);

  static const GridColumn kMixed[] = {
      {"mix", true}, {"sum of single speeds"}, {"measured"}, {"efficiency"}, {"times 4 K80"}};
  cells.clear();
  for (const std::string_view name : {"1v1p2k", "1v2p1k", "2v1p1k"}) {
    std::vector<std::string> line = {
        std::string(name), values.cell("mixed", name, "sum_of_single_speeds_steps_per_s", 2),
        values.cell("mixed", name, "measured_speed_steps_per_s", 2),
        values.cell("mixed", name, "efficiency", 3),
        values.cell("mixed", name, "speedup_vs_4k80_ondemand", 2)};
    if (!line[2].empty()) cells.push_back(std::move(line));
  }
  return text + part("Mixed GPUs (v V100, p P100, k K80), in steps a second", kMixed, cells);
}

std::string models(const Values& values) {
  static const GridColumn kColumns[] = {{"model", true}, {"error %"}, {"held out %"}};
  Cells cells;
  const auto add = [&](std::string_view name, std::string error, std::string held_out) {
    if (!held_out.empty()) {
      cells.push_back({std::string(name), std::move(error), std::move(held_out)});
    }
  };
  add("speed under the cap of parameter servers", values.cell("ps_softmin", "fit", "mape_pct", 2),
      values.cell("model", "parameter-server cap", "heldout_mape_pct", 2));
  add("... for mixed clusters, 4 P100, 4 V100", "",
      values.cell("ps_softmin", "fit without 4P/4V/mixed", "heldout_mape_pct", 2));
  add("delay of a step across regions",
      values.cell("model", "region delay of a step", "mape_pct", 2),
      values.cell("model", "region delay of a step", "heldout_mape_pct", 2));
  for (const std::string_view gpu : {"K80", "P100"}) {
    for (const auto& [fit, name] :
         {std::pair("power_law", "power law"), std::pair("svr_rbf", "support vectors, radial"),
          std::pair("svr_poly", "support vectors, square")}) {
      add(fmt::format("step time {}, {}", gpu, name), "",
          values.cell("cmdare_fit", fmt::format("{} {}", gpu, fit), "lomo_mape_pct", 2));
    }
  }
  add("step time by network and GPU", values.cell("model", "step_time=A*g^B*c^C", "mape_pct", 2),
      values.cell("model", "step_time=A*g^B*c^C", "lomo_mape_pct", 2));
  add("checkpoint time", "", values.cell("model", "checkpoint_s=a+b*MB", "lomo_mape_pct", 2));
  return part("Models: mean error on their own data, and on what the fit had not seen", kColumns,
              cells);
}

std::string faults(const Analysis& analysis) {
  std::string text;
  for (const bool spoiling : {true, false}) {
    std::string_view config;
    std::string part_text;
    for (const Inconsistency& one : analysis.inconsistencies) {
      if (spoils_results(one) != spoiling) continue;
      if (config != one.config) part_text += fmt::format("{}\n", config = one.config);
      part_text += fmt::format("  {}:{}: {}: {}; {}\n", one.file, one.line, one.run, one.fault,
                               one.treatment);
    }
    if (part_text.empty()) continue;
    text += spoiling ? "\nRows of results that contradict others\n" : "\nRemarks on servers\n";
    text += part_text;
  }
  return text;
}

}  // namespace

std::string verdict_text(const Analysis& analysis) {
  return verdict_of(Values(analysis.rows), analysis);
}

std::string summary_text(const PublishedData& data, const Analysis& analysis) {
  const Values values(analysis.rows);
  std::string text = verdict_of(values, analysis);
  text += fmt::format("Read: {}\n", fmt::join(data.folders, ", "));
  text += configurations(values, analysis);
  text += revocations(values, analysis);
  text += lifetimes(values, analysis);
  text += comparisons(values);
  text += models(values);
  text += faults(analysis);
  return text;
}

}  // namespace orrery
