#include "experiments/sweep/sweep_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/statistics.h"

namespace orrery {
namespace {

constexpr std::uint64_t kSeed = 1;  // of all intervals

// Figures that compare_common_jobs() has over the jobs that both runs completed.
bool is_common(std::string_view metric) {
  return metric == "avg_jct_s" || metric == "p50_jct_s" || metric == "p99_jct_s" ||
         metric == "makespan_s";
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class GroupFigures {
 public:
  GroupFigures(const SweepPlan& plan, const SweepResults& results)
      : plan_(plan), results_(results) {}

  std::optional<SweepFigure> of(const SweepGroup& group, const std::string& metric) {
    std::vector<double> values;
    for (const std::size_t run : group.runs) {
      if (const auto value = results_.number(run, metric)) values.push_back(*value);
    }
    if (values.empty()) return std::nullopt;
    SweepFigure figure{.count = values.size(), .mean = mean_of(values), .median = median(values)};
    if (values.size() > 1) figure.of_mean = draws(values.size()).of_mean(values);
    compare(group, metric, figure);
    return figure;
  }

 private:
  void compare(const SweepGroup& group, const std::string& metric, SweepFigure& figure) {
    std::vector<double> ours;
    std::vector<double> theirs;
    std::vector<double> differences;
    for (const std::size_t run : group.runs) {
      const auto baseline = plan_.baseline_of[run];
      if (!baseline) continue;
      const bool common = is_common(metric) && results_.number(run, "common_jobs").has_value();
      const auto value = results_.number(run, common ? "common_" + metric : metric);
      const auto other = common ? results_.number(run, "first_common_" + metric)
                                : results_.number(*baseline, metric);
      if (!value || !other) continue;
      ours.push_back(*value);
      theirs.push_back(*other);
      differences.push_back(*value - *other);
    }
    figure.pairs = differences.size();
    if (differences.empty()) return;
    figure.difference = mean_of(differences);
    const bool positive = std::ranges::all_of(theirs, [](double value) { return value > 0; });
    if (positive) figure.change = figure.difference / mean_of(theirs);
    if (figure.pairs < 2) return;
    figure.of_difference = draws(figure.pairs).of_mean(differences);
    if (positive) figure.of_change = draws(figure.pairs).of_ratio(differences, theirs);
  }

  const Bootstrap& draws(std::size_t count) {
    return draws_.try_emplace(count, count, kSeed).first->second;
  }

  const SweepPlan& plan_;
  const SweepResults& results_;
  std::map<std::size_t, Bootstrap> draws_;
};

std::vector<SweepGroup> groups_of(const SweepPlan& plan, const SweepResults& results) {
  std::vector<SweepGroup> groups;
  std::map<std::vector<std::size_t>, std::size_t> places;
  for (std::size_t run = 0; run < plan.points.size(); ++run) {
    if (!results.has(run)) continue;
    std::vector<std::size_t> values = plan.points[run].values;
    if (plan.seed_axis) values[*plan.seed_axis] = kNoValue;
    const auto [place, is_new] = places.emplace(values, groups.size());
    if (is_new) groups.push_back({.values = std::move(values), .runs = {}, .figures = {}});
    groups[place->second].runs.push_back(run);
  }
  return groups;
}

}  // namespace

const SweepFigure* SweepGroup::figure(std::string_view metric) const {
  const auto found = figures.find(metric);
  return found == figures.end() ? nullptr : &found->second;
}

SweepStatistics statistics_of(const SweepPlan& plan, const SweepResults& results) {
  SweepStatistics statistics{.metrics = {}, .groups = groups_of(plan, results)};
  GroupFigures figures(plan, results);
  for (const std::string& field : results.fields()) {
    const bool about_pairs = field.starts_with("first_common_") || field.starts_with("common_");
    if (!check_metric(field).ok() || (about_pairs && field != "common_jobs")) continue;
    bool some = false;
    for (SweepGroup& group : statistics.groups) {
      if (auto figure = figures.of(group, field)) {
        group.figures.emplace(field, *std::move(figure));
        some = true;
      }
    }
    if (some) statistics.metrics.push_back(field);
  }
  return statistics;
}

}  // namespace orrery
