#include "cloud/analysis/inconsistencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

namespace orrery {
namespace {

// Rates of the published tables have five digits, so that sound costs differ by less than this.
constexpr double kCostTolerance = 1e-6;

std::string file_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string run_text(const RunKey& key) {
  return fmt::format("{}{}run {}", key.zone, key.zone.empty() ? "" : " ", key.run);
}

void check_results(const ConfigFacts& config, std::vector<Inconsistency>& found) {
  for (const RunFacts& run : config.runs) {
    const auto& evaluations = run.run->evaluations;
    if (!run.run->published || run.measured || evaluations.empty()) continue;
    const auto last = std::ranges::max_element(evaluations, {}, &SeriesPoint::step);
    found.push_back(
        {Inconsistency::Kind::Truncated, config.config(),
         file_of(config.training->folder.results_path), run.run->published->line,
         run_text(run.run->key),
         fmt::format("stands among the results, but the last evaluation is at step {} "
                     "of {}, with accuracy {:.4f} (the row says {:.4f})",
                     last->step, kTrainingSteps, last->value, run.run->published->accuracy),
         "left out of every mean of completed runs"});
  }
}

void check_costs(const ConfigFacts& config, std::vector<Inconsistency>& found) {
  for (const RunFacts& run : config.runs) {
    if (!run.run->cost || !run.cost_usd) continue;
    const double charged = run.run->cost->usd;
    if (std::abs(charged / *run.cost_usd - 1) <= kCostTolerance) continue;
    found.push_back({Inconsistency::Kind::Cost, config.config(),
                     file_of(config.training->folder.costs_path), run.run->cost->line,
                     run_text(run.run->key),
                     fmt::format("charges ${:.6f}; its servers cost ${:.6f} for their time",
                                 charged, *run.cost_usd),
                     "kept in cost_file_*; cost_nominal_* does not rest on it"});
  }
}

void check_servers(const ConfigFacts& config, std::vector<Inconsistency>& found) {
  const TrainingFolder& folder = config.training->folder;
  const std::string file = file_of(folder.database_path);
  const auto runs = std::ranges::count(folder.database, MeasuredEnd::Running, &MeasuredServer::end);
  if (runs > 0) {
    found.push_back(
        {Inconsistency::Kind::NeverUpdated, config.config(), file, 1, "all runs",
         fmt::format("{} of {} servers are still RUNNING", runs, folder.database.size()),
         "no lifetime is taken from them"});
  }
  for (const MeasuredServer& server : folder.database) {
    const auto same = std::ranges::find(folder.servers, server.name, &MeasuredServer::name);
    if (same == folder.servers.end() || same->end == server.end ||
        server.end == MeasuredEnd::Running || same->end == MeasuredEnd::Unknown ||
        server.end == MeasuredEnd::Unknown) {
      continue;
    }
    const auto end_text = [](const MeasuredServer& one) {
      return was_revoked(one) ? "was revoked" : "completed its job";
    };
    found.push_back({Inconsistency::Kind::Relabelled, config.config(), file_of(folder.servers_path),
                     same->line, run_text(server.key),
                     fmt::format("{} {} here, but {} in {}", server.name, end_text(*same),
                                 end_text(server), file),
                     "counted as this file says"});
  }
}

}  // namespace

std::string_view text_of(Inconsistency::Kind kind) {
  constexpr std::string_view kTexts[] = {"truncated", "cost", "relabelled", "never-updated"};
  return kTexts[static_cast<std::size_t>(kind)];
}

bool spoils_results(const Inconsistency& inconsistency) {
  return inconsistency.kind == Inconsistency::Kind::Truncated ||
         inconsistency.kind == Inconsistency::Kind::Cost;
}

std::vector<Inconsistency> find_inconsistencies(const std::vector<ConfigFacts>& configs) {
  std::vector<Inconsistency> found;
  for (const ConfigFacts& config : configs) {
    check_results(config, found);
    check_costs(config, found);
    check_servers(config, found);
  }
  return found;
}

}  // namespace orrery
