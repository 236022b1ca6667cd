#pragma once

#include <cstdint>
#include <vector>

#include "model/event.h"
#include "model/time.h"
#include "report/metrics/summary.h"

namespace orrery {

// Sums over the jobs of a window that have a deadline, and over those without one beside them.
class DeadlineSums {
 public:
  void submit(const JobSpec& spec, JobId job);  // of a job with a deadline
  void promise(double work_gpu_s);
  // A job with a deadline has ended. A job that its owner cancels breaks no promise.
  void end(JobId job, bool met, bool breaks_promise);
  void complete_without_deadline(Duration completion_time);

  void add_figures(RunSummary& summary) const;

 private:
  std::int64_t stated_ = 0;
  std::int64_t met_ = 0;
  std::int64_t promised_ = 0;
  std::int64_t broken_ = 0;
  double promised_gpu_s_ = 0;
  double value_won_ = 0;
  std::int64_t others_done_ = 0;
  double others_took_s_ = 0;
  std::vector<double> soft_values_;  // by job, up to the last soft deadline; 0: it is not soft
};

}  // namespace orrery
