#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/statistics.h"
#include "commands/twin_commands.h"
#include "experiments/runs/output.h"
#include "experiments/twin_fit/measured_run.h"
#include "training/mode_selection/director_by_name.h"
#include "training/twin/ranking.h"

namespace orrery {
namespace {

constexpr int kSeeds = 5;
constexpr auto kHorizon = std::chrono::hours(1);

struct Checked {
  const MeasuredRun* run = nullptr;
  bool fitted = false;  // the model was fitted to it
  double interval_s = 0;
  double time_to_target_s = -1;
  double work_s = 0;         // of its tasks, as measured,
  double fitted_work_s = 0;  // and as the model has it

  double own_pace_s = 0;  // interval if the model had the measured work: the machine's speed of
                          // that hour is in it, so that what is left is the twin's own fault

  double interval_error() const { return interval_s / run->interval_s - 1; }
  double own_pace_error() const { return own_pace_s / run->interval_s - 1; }
  bool both_reach() const { return run->target_s() > 0 && time_to_target_s > 0; }
  double target_error() const { return time_to_target_s / run->target_s() - 1; }
};

TwinSetup setup_of(const MeasuredRun& run, const TwinModel& model, std::uint64_t seed) {
  TwinSetup setup = twin_setup(model, run.workers);
  setup.script = run.servers.script;
  setup.horizon = kHorizon;
  setup.seed = seed;
  const std::int64_t samples = run.steps * run.batch / run.workers;
  setup.conductor = {.architecture = run.architecture == "ps" ? Architecture::ParameterServers
                                                              : Architecture::AllReduce,
                     .global_batch = run.batch,
                     .blocks = run.servers.blocks,
                     .rate = {.base = run.rate},
                     .samples_limit = samples,
                     .evaluate_every = evaluation_distance(run.evaluate_every, run.batch),
                     .target_accuracy = run.target,
                     .target_over = run.target_over};
  // What it would take to a target that the model never reaches is of no use.
  if (samples == 0) {
    setup.conductor.samples_limit = static_cast<std::int64_t>(2 * run.run.curve.back().samples);
  }
  return setup;
}

void take_work(const TwinWorker& worker, Checked& checked) {
  const MeasuredRun& run = *checked.run;
  if (run.work.empty()) return;
  double tasks = 0;
  for (const TaskWork& point : measured_work(run.run, run.servers, worker)) {
    tasks += point.tasks;
    checked.work_s += point.tasks * point.work_s;
    checked.fitted_work_s += point.tasks * (worker.fixed_s + worker.per_sample_s * point.samples +
                                            worker.block_s * (point.blocks - 1));
  }
  checked.work_s /= tasks;
  checked.fitted_work_s /= tasks;
}

struct Predicted {
  double interval_s = 0, time_to_target_s = -1;
};

Result<Predicted> predict(const MeasuredRun& run, const TwinModel& model) {
  std::vector<double> intervals, times;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const TwinSetup setup = setup_of(run, model, seed);
    DirectorOptions with{.workers = run.workers,
                         .architecture = setup.conductor.architecture,
                         .samples_limit = run.steps * run.batch / run.workers,
                         .blocks = setup.conductor.blocks};
    with.star.staleness.prior = staleness_prior(run.momentum);
    TRY_ASSIGN(auto director, director_by_name(run.mode, 0, std::move(with)));
    const TwinResult result = run_twin(setup, std::move(director));
    const auto updates =
        static_cast<double>(std::max<std::int64_t>(1, result.tally.counts.updates));
    intervals.push_back(result.wall_s / updates);
    times.push_back(result.time_to_target_s.value_or(HUGE_VAL));
  }
  const double time = median(times);
  return Predicted{median(intervals), std::isfinite(time) ? time : -1};
}

Result<Checked> check(const MeasuredRun& run, TwinModel model) {
  TRY_ASSIGN(const Predicted predicted, predict(run, model));
  Checked checked{.run = &run,
                  .interval_s = predicted.interval_s,
                  .time_to_target_s = predicted.time_to_target_s};
  take_work(model.worker, checked);
  if (!(checked.fitted_work_s > 0)) return checked;
  const double slower = checked.work_s / checked.fitted_work_s;
  model.worker.fixed_s *= slower;
  model.worker.per_sample_s *= slower;
  model.worker.block_s *= slower;
  TRY_ASSIGN(const Predicted at_own_pace, predict(run, model));
  checked.own_pace_s = at_own_pace.interval_s;
  return checked;
}

bool named(const std::vector<std::string>& texts, const std::string& name) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return name.find(text) != std::string::npos; });
}

Result<std::vector<Checked>> predict_all(const std::vector<MeasuredRun>& runs,
                                         const TwinCheckArguments& a) {
  std::vector<Checked> all;
  ModelFit once;
  if (!a.fit.empty()) {
    std::vector<const MeasuredRun*> chosen;
    for (const MeasuredRun& run : runs) {
      if (named(a.fit, run.name)) chosen.push_back(&run);
    }
    if (chosen.empty()) return invalid("--fit: no trusted run has this in its name");
    TRY_ASSIGN(once, fit_model(chosen, {}));
  }
  for (const MeasuredRun& run : runs) {
    TwinModel model = once.model;
    if (a.fit.empty()) {
      std::vector<const MeasuredRun*> others;
      for (const MeasuredRun& other : runs) {
        if (&other != &run) others.push_back(&other);
      }
      TRY_ASSIGN(const ModelFit fit, fit_model(others, {}, run.architecture));
      model = fit.model;
    }
    TRY_ASSIGN(Checked checked, check(run, model));
    checked.fitted = named(a.fit, run.name);
    all.push_back(checked);
  }
  return all;
}

struct Errors {
  int runs = 0, within = 0;  // a tenth
  double mean = 0, worst = 0;

  void add(double error) {
    ++runs;
    within += error <= 0.1;
    mean += (error - mean) / runs;
    worst = std::max(worst, error);
  }
};

struct Summary {
  // A director that switches at other times makes updates of other sizes: intervals are held
  // against each other where the mode stayed the same.
  Errors intervals_fixed{}, own_pace_fixed{}, times_fixed{}, times_selected{};
  Ranking intervals{}, times{};
};

// Errors are of runs that were not fitted to. Modes are ranked within a cell, fitted ones too.
Summary summed_up(const std::vector<Checked>& all, double noise) {
  Summary summary;
  std::map<std::string, std::pair<std::vector<std::pair<double, double>>,
                                  std::vector<std::pair<double, double>>>>
      cells;
  for (const Checked& one : all) {
    auto& [intervals, times] = cells[one.run->cell];
    intervals.emplace_back(one.run->interval_s, one.interval_s);
    if (one.both_reach()) times.emplace_back(one.run->target_s(), one.time_to_target_s);
    if (one.fitted) continue;
    const bool selects = one.run->result.tally.counts.mode_switches > 0;
    if (!selects) summary.intervals_fixed.add(std::abs(one.interval_error()));
    if (!selects && one.own_pace_s > 0) summary.own_pace_fixed.add(std::abs(one.own_pace_error()));
    if (!one.both_reach()) continue;
    (selects ? summary.times_selected : summary.times_fixed).add(std::abs(one.target_error()));
  }
  double intervals_weight = 0, times_weight = 0;
  const auto add = [noise](Ranking& to, const std::vector<std::pair<double, double>>& values,
                           double& weight) {
    const Ranking found = rank(values, noise);
    to.pairs += found.pairs;
    to.alike += found.alike;
    if (values.size() < 3) return;
    to.correlation += found.correlation * static_cast<double>(values.size());
    weight += static_cast<double>(values.size());
  };
  for (const auto& [cell, both] : cells) {
    add(summary.intervals, both.first, intervals_weight);
    add(summary.times, both.second, times_weight);
  }
  if (intervals_weight > 0) summary.intervals.correlation /= intervals_weight;
  if (times_weight > 0) summary.times.correlation /= times_weight;
  return summary;
}

std::string table_of(const std::vector<Checked>& all, const Summary& summary,
                     const TwinCheckArguments& a, const std::vector<std::string>& left_out) {
  constexpr auto kRow = "{:<42}{:>11}{:>9}{:>9}{:>9}{:>10}{:>10}{:>9}{:>9}{:>7}\n";
  std::string text = fmt::format(kRow, "run", "interval ms", "predicted", "error", "own pace",
                                 "target s", "predicted", "error", "work ms", "fitted");
  const auto percent = [](double share) { return fmt::format("{:+.1f} %", 100 * share); };
  const auto number = [](double value) { return value < 0 ? "-" : fmt::format("{:.1f}", value); };
  for (const Checked& one : all) {
    text += fmt::format(
        kRow, one.run->name + (one.fitted ? " *" : ""), number(1e3 * one.run->interval_s),
        number(1e3 * one.interval_s), percent(one.interval_error()),
        one.own_pace_s > 0 ? percent(one.own_pace_error()) : "-", number(one.run->target_s()),
        number(one.time_to_target_s), one.both_reach() ? percent(one.target_error()) : "-",
        number(1e3 * one.work_s), number(1e3 * one.fitted_work_s));
  }
  if (!a.fit.empty()) text += "* the model was fitted to it\n";
  const auto errors = [](const char* what, const Errors& of) {
    return fmt::format("{}: {} of {} within 10 %, {:.1f} % off in the mean, {:.1f} % at most\n",
                       what, of.within, of.runs, 100 * of.mean, 100 * of.worst);
  };
  text += errors("intervals, runs in one mode", summary.intervals_fixed);
  text += errors("the same, at each run's own pace", summary.own_pace_fixed);
  text += errors("time to target, runs in one mode", summary.times_fixed);
  if (summary.times_selected.runs > 0) {
    text += errors("time to target, runs that switched", summary.times_selected);
  }
  const auto order = [&](const char* what, const Ranking& ranking) {
    return fmt::format(
        "order of modes by {}: {} of {} pairs that differ by more than {:.0f} % are alike, "
        "correlation of ranks {:.2f}\n",
        what, ranking.alike, ranking.pairs, 100 * a.noise, ranking.correlation);
  };
  text += order("interval", summary.intervals) + order("time to target", summary.times);
  for (const std::string& why : left_out) text += "left out: " + why + "\n";
  return text;
}

nlohmann::ordered_json json_of(const std::vector<Checked>& all, const Summary& summary,
                               const std::vector<std::string>& left_out) {
  using Json = nlohmann::ordered_json;
  const auto time = [](double value) { return value < 0 ? Json() : Json(value); };
  Json json{{"runs", Json::array()}};
  for (const Checked& one : all) {
    json["runs"].push_back(
        {{"name", one.run->name},
         {"mode", one.run->mode},
         {"cell", one.run->cell},
         {"fitted", one.fitted},
         {"mode_switches", one.run->result.tally.counts.mode_switches},
         {"interval_s", one.run->interval_s},
         {"interval_predicted_s", one.interval_s},
         {"interval_at_own_pace_s", time(one.own_pace_s > 0 ? one.own_pace_s : -1)},
         {"time_to_target_s", time(one.run->target_s())},
         {"time_to_target_predicted_s", time(one.time_to_target_s)},
         {"task_work_s", one.work_s},
         {"task_work_fitted_s", one.fitted_work_s}});
  }
  const auto errors = [](const Errors& of) {
    return Json{
        {"runs", of.runs}, {"within_a_tenth", of.within}, {"mean", of.mean}, {"worst", of.worst}};
  };
  json["interval_errors"] = errors(summary.intervals_fixed);
  json["interval_errors_at_own_pace"] = errors(summary.own_pace_fixed);
  json["time_to_target_errors"] = errors(summary.times_fixed);
  json["time_to_target_errors_selected"] = errors(summary.times_selected);
  const auto ranking = [](const Ranking& of) {
    return Json{{"pairs", of.pairs}, {"alike", of.alike}, {"correlation", of.correlation}};
  };
  json["order_by_interval"] = ranking(summary.intervals);
  json["order_by_time_to_target"] = ranking(summary.times);
  json["left_out"] = left_out;
  return json;
}

}  // namespace

Status twin_check_command(const TwinCheckArguments& a) {
  std::vector<MeasuredRun> runs;
  std::vector<std::string> left_out;
  for (const std::string& folder : a.runs) {
    auto run = read_measured_run(folder);
    if (!run.ok()) {
      left_out.push_back(run.error().message);
    } else if (!run.value().not_trusted.empty() || !(run.value().interval_s > 0)) {
      left_out.push_back(run.value().name + ": " + run.value().not_trusted);
    } else {
      runs.push_back(std::move(run).value());
    }
  }
  if (runs.size() < 2) {
    std::string why = "of the runs given, fewer than two can be used";
    for (const std::string& one : left_out) why += "\n  " + one;
    return invalid(why);
  }
  TRY_ASSIGN(const std::vector<Checked> all, predict_all(runs, a));
  const Summary summary = summed_up(all, a.noise);
  return print_text(a.json ? json_of(all, summary, left_out).dump() + "\n"
                           : table_of(all, summary, a, left_out));
}

}  // namespace orrery
