#include "report/metrics/job_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/statistics.h"

namespace orrery {
namespace {

CommonFigures figures_of(const CompletionTimes& times, Time last_end, QuantileRule rule) {
  CommonFigures figures;
  const std::vector<double> sorted_s = ascending_s(times);
  if (sorted_s.empty()) return figures;
  const double sum_s = std::accumulate(sorted_s.begin(), sorted_s.end(), 0.0);
  figures.avg_jct_s = sum_s / static_cast<double>(sorted_s.size());
  figures.p50_jct_s = quantile(sorted_s, 0.50, rule);
  figures.p99_jct_s = quantile(sorted_s, 0.99, rule);
  if (last_end != Time()) figures.makespan_s = seconds(last_end);
  return figures;
}

// "completed all 3629 jobs", "rejected 1027, left 3"
std::string ends_of(const RunSummary& run) {
  std::vector<std::string> ends;
  const auto add = [&](std::string_view what, std::int64_t jobs) {
    if (jobs > 0) ends.push_back(fmt::format("{} {}", what, jobs));
  };
  add("rejected", run.rejected);
  add("failed", run.failed);
  add("cancelled", run.cancelled);
  add("left", run.left);
  if (ends.empty()) return fmt::format("completed all {}", run.completed);
  return fmt::format("{}", fmt::join(ends, ", "));
}

}  // namespace

void compare_common_jobs(const ReportRun& first, ReportRun& run) {
  CompletionTimes of_first;
  CompletionTimes of_run;
  Time first_end{};
  Time run_end{};
  const std::size_t jobs = std::min(first.completion_times.size(), run.completion_times.size());
  for (std::size_t job = 0; job < jobs; ++job) {
    const Duration a = first.completion_times[job];
    const Duration b = run.completion_times[job];
    if (a == kNotCompleted || b == kNotCompleted) continue;
    of_first.push_back(a);
    of_run.push_back(b);
    if (run.workload == nullptr || job >= run.workload->jobs.size()) continue;
    const Time submitted = run.workload->jobs[job].submitted;
    first_end = std::max(first_end, submitted + a);
    run_end = std::max(run_end, submitted + b);
  }
  const QuantileRule rule =
      run.summary.semantics == "synergy" ? QuantileRule::Interpolated : QuantileRule::Above;
  run.summary.common_jobs = static_cast<std::int64_t>(of_run.size());
  run.summary.common = figures_of(of_run, run_end, rule);
  run.summary.first_common = figures_of(of_first, first_end, rule);
}

std::vector<RunSummary> compared_summaries(std::span<const ReportRun> runs) {
  std::vector<RunSummary> summaries;
  for (const ReportRun& run : runs) {
    const auto first = std::ranges::find_if(
        runs, [&](const ReportRun& one) { return one.summary.trace == run.summary.trace; });
    if (&*first == &run) {
      summaries.push_back(run.summary);
      continue;
    }
    // Without its series, which is large.
    ReportRun compared{.summary = run.summary,
                       .series = {},
                       .settings = {},
                       .completion_times = run.completion_times,
                       .workload = run.workload};
    compare_common_jobs(*first, compared);
    summaries.push_back(std::move(compared.summary));
  }
  return summaries;
}

bool completed_the_same(const RunSummary& first, const RunSummary& run) {
  if (!run.common_jobs) return first.completed == first.jobs && run.completed == run.jobs;
  return *run.common_jobs == first.completed && *run.common_jobs == run.completed;
}

std::string comparison_note(const RunSummary& first, const RunSummary& run) {
  if (!run.common_jobs || completed_the_same(first, run)) return "";
  if (first.status == RunStatus::NotRun || run.status == RunStatus::NotRun) return "";
  return fmt::format("{} vs {}: over the {} jobs that both completed; {} {}; {} {}", run.policy,
                     first.policy, *run.common_jobs, first.policy, ends_of(first), run.policy,
                     ends_of(run));
}

}  // namespace orrery
