#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "report/metrics/summary.h"
#include "report/page/html.h"

namespace orrery {

// Two policies may reject or leave different jobs. A ratio of their own averages would compare
// different work, so ratios are taken over the jobs that both completed.

// Which jobs of a run completed, and when.
struct CompletedJobs {
  struct Job {
    std::size_t number = 0;
    double jct_s = 0;
    double ended_s = 0;
  };
  std::vector<Job> jobs;  // by rising number
};

// Sets common_jobs, common and first_common of `run`; see summary.h. Both runs have the same jobs.
void compare_common_jobs(const CompletedJobs& of_first, const CompletedJobs& of_run,
                         RunSummary& run);
void compare_common_jobs(const ReportRun& first, ReportRun& run);

// The summaries, each compared so with the first run of the same trace.
std::vector<RunSummary> compared_summaries(std::span<const ReportRun> runs);

// True if both runs completed exactly the same jobs.
bool completed_the_same(const RunSummary& first, const RunSummary& run);

// Over which jobs the two are compared, and what became of the others in each. Empty if both
// completed the same jobs.
std::string comparison_note(const RunSummary& first, const RunSummary& run);

}  // namespace orrery
