#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bootstrap.h"
#include "experiments/sweep/sweep_results.h"

namespace orrery {

// A metric over the runs of a group, which differ in their seeds alone. Intervals are of 95 %, by
// the bootstrap, where there are two values or more.
struct SweepFigure {
  std::size_t count = 0;
  double mean = 0;
  double median = 0;
  std::optional<ConfidenceInterval> of_mean{};
  // Run by run of the same seed: this group minus the baseline. Completion times and makespan are
  // over the jobs that both runs completed.
  std::size_t pairs = 0;
  double difference = 0;
  std::optional<ConfidenceInterval> of_difference{};
  std::optional<double> change{};  // of the mean, as a part of the baseline's
  std::optional<ConfidenceInterval> of_change{};
};

struct SweepGroup {
  std::vector<std::size_t> values;                          // on each axis; the seed's is kNoValue
  std::vector<std::size_t> runs;                            // those that are finished
  std::map<std::string, SweepFigure, std::less<>> figures;  // by metric

  const SweepFigure* figure(std::string_view metric) const;
};

struct SweepStatistics {
  std::vector<std::string> metrics;  // that some run has
  std::vector<SweepGroup> groups;
};

SweepStatistics statistics_of(const SweepPlan& plan, const SweepResults& results);

// True if a policy refused jobs.
bool some_refused(std::span<const SweepGroup> groups);

// The metrics to show: those asked for, or the usual ones.
std::vector<std::string> shown_metrics(const SweepPlan& plan, const SweepStatistics& statistics);

// DIR/summary.csv: a row a group and metric.
Status write_summary_csv(const std::string& path, const SweepPlan& plan,
                         const SweepStatistics& statistics);

// For people: a row a group, at most `rows` of them.
std::string sweep_table(const SweepPlan& plan, const SweepStatistics& statistics, int width,
                        std::size_t rows);

// "12.3 h", "0.42"
std::string metric_text(std::string_view metric, double value);
// With its interval; "-" for none.
std::string figure_text(std::string_view metric, const SweepFigure* figure);
// "-38.2 % [-40.1, -36.0]"
std::string change_text(const SweepFigure* figure);

}  // namespace orrery
