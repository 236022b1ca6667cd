#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiments/sweep/sweep_journal.h"
#include "experiments/sweep/sweep_plan.h"

namespace orrery {

// The figures of the runs that are finished: the fields of --json as texts. Each run is compared
// with its run of the baseline over the jobs that both completed, where both have the same trace.
class SweepResults {
 public:
  static Result<SweepResults> read(const SweepPlan& plan, const SweepJournal& journal);

  bool has(std::size_t run) const { return !rows_[run].empty(); }
  const std::vector<std::string>& fields() const { return fields_; }
  const std::vector<std::string>& row(std::size_t run) const { return rows_[run]; }
  // Empty where the run is not finished or the figure has no meaning in it.
  std::optional<double> number(std::size_t run, std::string_view field) const;

 private:
  Status read_rows(const SweepJournal& journal);
  Status compare(const SweepPlan& plan, const SweepJournal& journal);

  std::vector<std::string> fields_;
  std::vector<std::vector<std::string>> rows_;
};

// DIR/runs.csv: a row a run, with a column an axis, then the fields.
Status write_runs_csv(const std::string& path, const SweepPlan& plan, const SweepResults& results);

// DIR/jobs.csv: a row a job.
Status write_jobs_csv(const std::string& path, const SweepJournal& journal);

}  // namespace orrery
