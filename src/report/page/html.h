#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/job.h"
#include "report/metrics/completion_times.h"
#include "report/metrics/job_records.h"
#include "report/metrics/summary.h"
#include "report/page/series.h"

namespace orrery {

struct ReportRun {
  RunSummary summary;
  Series series;
  // What else decided the run, as it is to be shown: seed, options, version.
  std::vector<std::pair<std::string, std::string>> settings;
  // For comparisons with other runs of the same trace; may be empty.
  CompletionTimes completion_times;
  std::shared_ptr<const Workload> workload;
  JobRecords jobs{};  // if asked for
};

// A drawing of its own above the runs.
struct ReportFigure {
  std::string title;
  std::string caption;
  std::string svg;  // markup, as report/page/chart.h makes it
};

// What stands above all else. Runs, where there are any, replace it with their own.
struct ReportHeadline {
  std::string title = "Orrery report";
  std::string subtitle;
  std::string verdict;
};

// One page that needs nothing but itself: styles, script and data are inside, nothing is fetched.
// Runs are compared with the first run of the same trace. Text from traces is data to the page,
// never markup.
std::string html_report(std::span<const ReportRun> runs, std::span<const ReportFigure> figures = {},
                        const ReportHeadline& headline = {});

}  // namespace orrery
