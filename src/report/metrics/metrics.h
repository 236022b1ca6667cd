#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/sparse_table.h"
#include "base/statistics.h"
#include "model/cluster.h"
#include "model/event.h"
#include "model/job_window.h"
#include "report/metrics/completion_times.h"
#include "report/metrics/deadline_sums.h"
#include "report/metrics/device_ledger.h"
#include "report/metrics/fairness_sums.h"
#include "report/metrics/node_sums.h"
#include "report/metrics/summary.h"
#include "report/metrics/time_sums.h"

namespace orrery {

struct MetricsOptions {
  const Cluster& cluster;              // read in the constructor only
  const Workload* workload = nullptr;  // curves; may grow. Without it no job has one
  std::optional<JobWindow> window;     // empty: all jobs
  // A quantile lies between the two nearest completion times, as in Synergy's figures.
  bool interpolates = false;
  std::optional<FaultRules> faults = {};  // empty: nodes do not come and go
};

// Folds a run's events into its summary. Figures about jobs (completion times, waiting, deadlines)
// are taken over the jobs of the window; figures about the cluster (starts, pauses and moves,
// queue, GPU, CPU and memory use, efficiency, events) over everything that happened from the first
// submission to the last end of a job. docs/formats/summary.md defines each.
class Metrics final : public EventSink {
 public:
  explicit Metrics(const MetricsOptions& options);

  void write(const Event& event) override;  // in the order of the log
  RunSummary summary() const;               // of the events so far
  const CompletionTimes& completion_times() const { return completion_times_; }

 private:
  // What is known of a job that has not ended.
  struct Job {
    Time submitted{};
    Duration ran{};          // in grants that have ended
    Time deadline = kNever;  // kNever: none
    double iterations = 0;   // in all
    double work_left = 0;    // iterations, as of the last event
    double iteration_gpu_s = 0;
    TimeSums::Holding holding;  // if it runs
    CurveId curve = kNoCurve;
    std::int32_t place = kNoSlot;  // in fairness_
    bool runs = false;
    bool promised = false;  // to be done by its deadline
  };

  void note_work(const Event& event, Job& job);
  void submit(const Event& event);
  void hold(const Event& event, Job& job);
  void release(Time now, Job& job);
  void promise(Job& job);
  void finish(const Event& event, JobState state);
  void complete(const Event& event, const Job& job);
  bool counts(JobId id) const { return !window_ || window_->holds(id); }
  void add_completion_times(RunSummary& summary) const;

  const Workload* const workload_;
  const std::optional<JobWindow> window_;
  const QuantileRule quantiles_;
  SparseTable<JobId, Job> jobs_;
  CompletionTimes completion_times_;
  TimeSums time_sums_;
  FairnessSums fairness_;
  std::optional<NodeSums> node_sums_;  // where nodes come and go
  // Of the jobs of the window.
  RunSummary counts_;
  DeadlineSums deadlines_;
  double waited_s_ = 0;                  // by those that completed
  std::optional<Time> window_last_end_;  // empty: none has ended
};

}  // namespace orrery
