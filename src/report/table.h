#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/metrics/summary.h"

namespace orrery {

struct TableOptions {
  int width = 100;      // of the terminal, in columns
  bool colour = false;  // ANSI colours: green is better than the first policy, red worse
  bool ratios = true;   // how many times better or worse than the first policy of the block
};

// The summary for people: a block a trace, a row a run, in the order given. No line is wider than
// the terminal: columns that do not fit are left out, in this order: starts, resizes, p50, queue,
// pauses, wait, the ratio of the makespan, the ratio of the p99, GPU use, best effort, efficiency,
// makespan, promises, jobs done, p99, value won, the ratio of the average, the ratio of the
// deadlines, deadlines. A last line of the block names what was left out. Policy and average stay,
// long policy names are cut. What is about deadlines is there if some job has one, resizes if there
// were any; promises are kept/made.
std::string table(std::span<const RunSummary> runs, const TableOptions& options);

// "47.3 s", "12.5 min", "3.20 h", "8.41 d": three digits, in the unit people would use.
std::string human_duration(double value_s);

// A column of them: all in one unit, so that rows compare at a glance; "-" where there is none.
std::vector<std::string> duration_column(std::span<const std::optional<double>> values_s);

}  // namespace orrery
