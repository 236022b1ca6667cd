#include "report/metrics/job_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/statistics.h"

namespace orrery {
namespace {

CommonFigures figures_of(const std::vector<CompletedJobs::Job>& jobs, QuantileRule rule) {
  CommonFigures figures;
  if (jobs.empty()) return figures;
  std::vector<double> sorted_s;
  double last_end_s = 0;
  for (const CompletedJobs::Job& job : jobs) {
    sorted_s.push_back(job.jct_s);
    last_end_s = std::max(last_end_s, job.ended_s);
  }
  std::ranges::sort(sorted_s);
  const double sum_s = std::accumulate(sorted_s.begin(), sorted_s.end(), 0.0);
  figures.avg_jct_s = sum_s / static_cast<double>(sorted_s.size());
  figures.p50_jct_s = quantile(sorted_s, 0.50, rule);
  figures.p99_jct_s = quantile(sorted_s, 0.99, rule);
  if (last_end_s > 0) figures.makespan_s = last_end_s;
  return figures;
}

CompletedJobs completed_jobs(const CompletionTimes& times, const Workload* workload) {
  CompletedJobs completed;
  for (std::size_t job = 0; job < times.size(); ++job) {
    if (times[job] == kNotCompleted) continue;
    const bool known = workload != nullptr && job < workload->jobs.size();
    const double ended_s = known ? seconds(workload->jobs[job].submitted + times[job]) : 0;
    completed.jobs.push_back({.number = job, .jct_s = seconds(times[job]), .ended_s = ended_s});
  }
  return completed;
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

void compare_common_jobs(const CompletedJobs& of_first, const CompletedJobs& of_run,
                         RunSummary& run) {
  const auto number = &CompletedJobs::Job::number;
  std::vector<CompletedJobs::Job> first;
  std::vector<CompletedJobs::Job> second;
  std::ranges::set_intersection(of_first.jobs, of_run.jobs, std::back_inserter(first), {}, number,
                                number);
  std::ranges::set_intersection(of_run.jobs, of_first.jobs, std::back_inserter(second), {}, number,
                                number);
  const QuantileRule rule =
      run.semantics == "synergy" ? QuantileRule::Interpolated : QuantileRule::Above;
  run.common_jobs = static_cast<std::int64_t>(second.size());
  run.common = figures_of(second, rule);
  run.first_common = figures_of(first, rule);
}

void compare_common_jobs(const ReportRun& first, ReportRun& run) {
  compare_common_jobs(completed_jobs(first.completion_times, run.workload.get()),
                      completed_jobs(run.completion_times, run.workload.get()), run.summary);
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
                       .workload = run.workload,
                       .jobs = {}};
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
