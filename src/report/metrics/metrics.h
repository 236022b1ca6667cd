#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/cluster.h"
#include "model/event.h"
#include "model/job_window.h"
#include "report/metrics/completion_times.h"
#include "report/metrics/device_ledger.h"
#include "report/metrics/summary.h"

namespace orrery {

struct MetricsOptions {
  const Cluster& cluster;              // read in the constructor only
  const Workload* workload = nullptr;  // curves; may grow. Without it no job has one
  std::optional<JobWindow> window;     // empty: all jobs
  // A quantile lies between the two nearest completion times, as in Synergy's figures.
  bool interpolates = false;
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
  CompletionTimes completion_times() const;

 private:
  struct Job {
    Time submitted{};
    Duration ran{};          // in grants that have ended; once it is done, its completion time
    Time deadline = kNever;  // kNever: none
    double iterations = 0;   // in all
    double iteration_gpu_s = 0;
    CurveId curve = kNoCurve;
    std::int32_t slot = kNoSlot;  // of its grant
    JobState state = JobState::Pending;
    bool known = false;
    bool promised = false;  // to be done by its deadline
  };
  struct Holding {
    Devices devices;
    Time since{};
    Time ready{};
    double useful_gpus = 0;
    HostShare host{};
  };
  struct Integrals {  // over time since the first submission
    double waiting = 0;
    double held = 0;
    double useful = 0;
    double cpu_milli = 0;
    double memory_bytes = 0;
    std::int64_t waiting_max = 0;
  };

  Job& job(const Event& event);
  void advance(Time now);
  void submit(const Event& event, Job& job);
  void hold(const Event& event, Job& job);
  void let_go(const Event& event, Job& job);
  void promise(Job& job);
  void finish(const Event& event, Job& job, JobState state);
  void complete(const Event& event, Job& job);
  void judge(const Event& event, const Job& job);
  bool counts(JobId id) const { return !window_ || window_->holds(id); }
  void add_deadline_figures(RunSummary& summary) const;
  void add_job_figures(RunSummary& summary) const;
  void add_cluster_figures(RunSummary& summary) const;

  const Workload* const workload_;
  const int gpus_total_;
  HostShare host_total_;
  const std::optional<JobWindow> window_;
  const bool interpolates_;
  DeviceLedger ledger_;
  SlotPool<Holding> holdings_;
  std::vector<Job> jobs_;
  std::vector<double> soft_values_;  // by job, as far as a deadline is soft; 0: it is not

  Time now_{};
  std::optional<Time> first_submission_;
  std::optional<Time> last_end_;         // of any job
  std::optional<Time> window_last_end_;  // of a job of the window
  std::int64_t waiting_ = 0;
  std::int64_t gpus_held_ = 0;
  double useful_gpus_ = 0;
  HostShare host_held_;
  bool host_seen_ = false;  // somebody held CPUs or memory of their own
  Integrals sums_;
  Integrals sums_at_last_end_;
  bool grants_seen_ = false;
  bool rates_known_ = true;

  // Of the jobs of the window.
  struct Deadlines {
    std::int64_t stated = 0;
    std::int64_t met = 0;
    std::int64_t promised = 0;
    std::int64_t broken = 0;
    double promised_gpu_s = 0;
    double value_won = 0;
    std::int64_t others_done = 0;
    double others_took_s = 0;
  };
  Deadlines deadlines_;
  double waited_s_ = 0;  // by those that completed
  RunSummary counts_;
};

}  // namespace orrery
