#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/statistics.h"
#include "cloud/analysis/tables.h"
#include "cloud/models/training_time.h"

namespace orrery {
namespace {

constexpr std::string_view kSpotConfigs[] = {"k80_spot/2-spot", "k80_spot/4-spot",
                                             "k80_spot/8-spot"};
constexpr std::string_view kSingleConfigs[] = {"p100_v100_spot/p100", "p100_v100_spot/v100"};
// The share of the time before the training that lies at the front of a server's life. The files do
// not say it; the published prediction took this one.
constexpr double kFrontShare = 0.6;
// A run that ended below this accuracy had not begun to learn, so that its times say nothing.
constexpr double kLearnt = 0.5;

std::size_t masters_revoked(const ConfigFacts& config) {
  return static_cast<std::size_t>(
      std::ranges::count_if(config.runs, [](const RunFacts& run) { return run.master_revoked; }));
}

void add_spot_rows(const ConfigFacts& config, RowWriter& write) {
  std::vector<double> revoked_s;
  for (const RunFacts& run : config.runs) {
    revoked_s.insert(revoked_s.end(), run.revoked_s.begin(), run.revoked_s.end());
  }
  const std::size_t servers = config.training->folder.servers.size();
  const std::size_t masters = masters_revoked(config);
  write.of("revocation", config.config());
  write.add_count("vms", servers);
  write.add_count("worker_revocations", revoked_s.size());
  write.add_count("master_revocations", masters);
  write.add_count("runs", config.runs.size());
  write.add("vm_revocation_pct",
            100 * static_cast<double>(revoked_s.size() + masters) / static_cast<double>(servers));

  // Runs by what was revoked in them: no master before master, as the labels sort.
  std::map<std::string, std::vector<const RunFacts*>> classes;
  for (const RunFacts& run : config.runs) {
    if (!run.run->published) continue;
    classes[fmt::format("r={}{}", run.revoked_s.size(), run.master_revoked ? "+master" : "")]
        .push_back(&run);
  }
  for (const auto& [label, runs] : classes) {
    std::vector<double> duration_s, accuracy, cost;
    for (const RunFacts* run : runs) {
      duration_s.push_back(run->run->published->duration_s);
      accuracy.push_back(run->run->published->accuracy);
      if (run->run->cost) cost.push_back(run->run->cost->usd);
    }
    write.of("revocation_class", config.config() + " " + label);
    const auto add = [&](const std::string& name, const std::vector<double>& values) {
      const Spread spread = spread_of(values);
      write.add(name + "_mean", spread.mean, spread.count);
      write.add(name + "_std_pop", spread.deviation_all, spread.count);
    };
    add("duration_s", duration_s);
    add("accuracy", accuracy);
    add("cost_usd", cost);
  }
  if (revoked_s.empty()) return;
  write.of("revocation", config.config())
      .add("revoked_worker_uptime_mean_s", spread_of(revoked_s).mean, revoked_s.size());
}

void add_single_rows(const ConfigFacts& config, RowWriter& write) {
  std::vector<double> uptimes_s;
  for (const MeasuredServer& server : config.training->folder.servers) {
    if (was_revoked(server) && server.uptime_s) uptimes_s.push_back(*server.uptime_s);
  }
  const Spread uptime = spread_of(uptimes_s);
  const std::size_t servers = config.training->folder.servers.size();
  write.of("revocation", config.config());
  write.add_count("vms", servers);
  write.add_count("master_revocations", uptimes_s.size());
  write.add_count("completed", config.duration_s.count);
  write.add("vm_revocation_pct",
            100 * static_cast<double>(uptimes_s.size()) / static_cast<double>(servers));
  if (uptimes_s.empty()) return;
  write.add("revoked_uptime_mean_s", uptime.mean, uptime.count);
  write.add("wasted_cost_usd_total",
            uptime.mean * static_cast<double>(uptime.count) * config.rate_usd_s, uptime.count);
}

// A completed run that lost workers, with what is needed to predict its duration.
struct LossyRun {
  std::string name;
  double duration_s = 0;
  int workers = 0;
  double worker_steps_per_s = 0;
  double before_s = 0;  // the time of a server's life that is no training
  std::vector<double> uptimes_s{};

  double predicted_s(double front_share) const {
    std::vector<double> lost_s;
    for (const double uptime_s : uptimes_s) lost_s.push_back(uptime_s - front_share * before_s);
    return time_with_losses_s(kTrainingSteps, worker_steps_per_s, workers, lost_s);
  }
  double error_pct(double predicted) const { return 100 * (predicted / duration_s - 1); }
};

struct LossyRuns {
  std::string name;  // "2-spot"
  std::size_t calm_runs = 0;
  double worker_steps_per_s = 0;
  double before_s = 0;
  std::vector<LossyRun> runs{};
};

LossyRuns lossy_runs(const ConfigFacts& config) {
  LossyRuns lossy{.name = config.setup().name};
  std::vector<double> calm_s, before_s;
  for (const RunFacts& run : config.runs) {
    if (!run.run->published || run.run->published->accuracy < kLearnt) continue;
    if (run.completed() && run.revoked_s.empty() && !run.master_revoked) {
      calm_s.push_back(run.run->published->duration_s);
    }
    // A truncated run, too, shows what its master lived besides the training.
    if (run.master_uptime_s) {
      before_s.push_back(*run.master_uptime_s - run.run->published->duration_s);
    }
  }
  if (calm_s.empty() || before_s.empty()) return lossy;
  const int workers = config.setup().workers_total();
  lossy.calm_runs = calm_s.size();
  lossy.worker_steps_per_s = kTrainingSteps / spread_of(calm_s).mean / workers;
  lossy.before_s = median(before_s);
  for (const RunFacts& run : config.runs) {
    if (!run.completed() || run.revoked_s.empty()) continue;
    lossy.runs.push_back(
        {fmt::format("{} {} run{}", lossy.name, run.run->key.zone, run.run->key.run),
         run.run->published->duration_s, workers, lossy.worker_steps_per_s, lossy.before_s,
         run.revoked_s});
  }
  return lossy;
}

void add_lossy_rows(const LossyRuns& lossy, RowWriter& write) {
  write.of("revocation_predict", lossy.name);
  write.add("per_worker_steps_per_s", lossy.worker_steps_per_s, lossy.calm_runs,
            "from runs with no revocation");
  write.add("median_uptime_minus_duration_s", lossy.before_s);
  for (const LossyRun& run : lossy.runs) {
    std::vector<std::string> uptimes;
    for (const double uptime_s : run.uptimes_s) uptimes.push_back(fmt::format("{:.3f}", uptime_s));
    const double predicted = run.predicted_s(kFrontShare);
    write.of("revocation_predict", run.name);
    write.add("actual_duration_s", run.duration_s, run.uptimes_s.size(),
              fmt::format("n=revoked workers; uptimes_s={}", fmt::join(uptimes, " ")));
    write.add("predicted_duration_s", predicted, run.uptimes_s.size(),
              fmt::format("rel_err_pct={:.3f}", run.error_pct(predicted)));
  }
}

struct ErrorSummary {
  double mean_pct = 0;
  double worst_pct = 0;
};

template <typename Predict>
ErrorSummary errors_of(const std::vector<LossyRun>& runs, Predict&& predict) {
  ErrorSummary summary;
  for (const LossyRun& run : runs) {
    const double error = std::abs(run.error_pct(predict(run)));
    summary.mean_pct += error / static_cast<double>(runs.size());
    summary.worst_pct = std::max(summary.worst_pct, error);
  }
  return summary;
}

std::string worst_text(double worst_pct) {
  std::string text = fmt::format("{:.2f}", worst_pct);
  if (text.ends_with('0')) text.pop_back();
  return "worst_pct=" + text;
}

}  // namespace

void add_revocation_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  RowWriter write(rows);
  for (const std::string_view name : kSpotConfigs) {
    const ConfigFacts* config = find_config(inputs.configs, name);
    if (config != nullptr && !config->training->folder.servers.empty()) {
      add_spot_rows(*config, write);
    }
  }
  for (const std::string_view name : kSingleConfigs) {
    const ConfigFacts* config = find_config(inputs.configs, name);
    if (config != nullptr && !config->training->folder.servers.empty()) {
      add_single_rows(*config, write);
    }
  }
}

void add_prediction_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  RowWriter write(rows);
  std::vector<LossyRun> all;
  for (const std::string_view name : kSpotConfigs) {
    const ConfigFacts* config = find_config(inputs.configs, name);
    if (config == nullptr) continue;
    const LossyRuns lossy = lossy_runs(*config);
    if (lossy.calm_runs == 0) continue;
    add_lossy_rows(lossy, write);
    all.insert(all.end(), lossy.runs.begin(), lossy.runs.end());
  }
  if (all.empty()) return;
  const auto with_share = [&](double share) {
    return errors_of(all, [&](const LossyRun& run) { return run.predicted_s(share); });
  };
  write.of("revocation_predict", "all");
  write.add("mape_pct", with_share(kFrontShare).mean_pct, all.size());
  for (const std::string_view share : {"0", "0.2", "0.4", "0.5", "0.6", "0.7", "0.8", "1.0"}) {
    const ErrorSummary summary = with_share(std::stod(std::string(share)));
    write.of("revocation_predict", fmt::format("sensitivity phi={}", share));
    write.add("mape_pct", rounded(summary.mean_pct, 2), all.size(), worst_text(summary.worst_pct));
  }
  const ErrorSummary ignored = errors_of(all, [](const LossyRun& run) {
    return kTrainingSteps / (run.worker_steps_per_s * run.workers);
  });
  write.of("revocation_predict", "ignore revocations");
  write.add("mape_pct", rounded(ignored.mean_pct, 2), all.size(), worst_text(ignored.worst_pct));
}

}  // namespace orrery
