#pragma once

#include <cstdint>
#include <optional>

#include "base/sparse_table.h"
#include "model/job.h"
#include "report/metrics/summary.h"

namespace orrery {

// Finish-time fairness of the jobs of a run, after Themis (NSDI'20), section 3.1: how long a job
// took, divided by what it would have taken on its equal share of the cluster. With n jobs in the
// cluster on average while it was there, its share is 1/n of the GPUs; a rigid job of g GPUs on G/n
// GPUs takes its start-up and its stated duration times max(1, n g / G). The paper measures how a
// job speeds up on fewer GPUs; here that is taken to be linear, for jobs with a speed curve too.
class FairnessSums {
 public:
  explicit FairnessSums(int gpus_total) : gpus_total_(gpus_total) {}

  // Calls come in the order of their times. Answers the job's place in the cluster.
  std::int32_t submit(Time now, const JobSpec& spec);
  // The job leaves the cluster: its rho. Empty for a job without a duration.
  std::optional<double> leave(Time now, std::int32_t place);

  void count(double rho);  // of a job that completed
  void add_figures(RunSummary& summary) const;

 private:
  struct Stay {
    Time from{};
    double job_s_before = 0;
    double start_s = 0;
    double duration_s = 0;
    int gpus = 0;
  };

  void advance(Time now);

  int gpus_total_;
  SlotPool<Stay> stays_;
  Time now_{};
  std::int64_t present_ = 0;
  double job_s_ = 0;  // the integral of `present_`
  std::int64_t counted_ = 0;
  std::int64_t above_1_ = 0;
  double sum_ = 0;
  double squares_ = 0;
  double largest_ = 0;
};

}  // namespace orrery
