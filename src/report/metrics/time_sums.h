#pragma once

#include <cstdint>
#include <optional>

#include "model/cluster.h"
#include "model/event.h"
#include "report/metrics/device_ledger.h"
#include "report/metrics/summary.h"

namespace orrery {

// Integrals over time of what a run's jobs wait for and hold, from the first submission to the
// last end of a job: queue, GPUs, CPUs, memory, and the GPUs that advance a job.
class TimeSums {
 public:
  // A grant in force. A grant advances its job from `ready` on.
  struct Holding {
    Devices devices;
    Time since{};
    Time ready{};
    double useful_gpus = 0;
    HostShare host{};
  };

  explicit TimeSums(const Cluster& cluster);  // reads it in the constructor only

  void advance(Time now);  // before anything that happens at `now`
  void begin(Time now);    // a job was submitted
  void end(Time now);      // a job has come to an end
  void change_waiting(int jobs) { waiting_ += jobs; }
  // `useful_gpus`: the GPU seconds of work per second under this grant; 0: not known.
  void hold(const Event& event, double useful_gpus, Holding& holding);
  void release(Time now, const Holding& holding);

  int gpus_total() const { return gpus_total_; }
  // `starting`: the sum of starting_at_last_submission() over the grants that are in force.
  void add_figures(RunSummary& summary, double starting) const;
  // What the useful GPU time until the last submission lacks, because the start-up of this grant
  // was subtracted in advance and goes on beyond that time.
  double starting_at_last_submission(const Holding& holding) const {
    if (holding.since >= last_submission_ || holding.ready <= last_submission_) return 0;
    return holding.useful_gpus * static_cast<double>((holding.ready - last_submission_).count());
  }

 private:
  struct Sums {
    double waiting = 0;
    double held = 0;
    double useful = 0;
    double cpu_milli = 0;
    double memory_bytes = 0;
    std::int64_t waiting_max = 0;
  };

  const int gpus_total_;
  HostShare host_total_;
  DeviceLedger ledger_;
  Time now_{};
  std::optional<Time> first_submission_;
  Time last_submission_{Duration::min()};
  std::optional<Time> last_end_;
  std::int64_t waiting_ = 0;
  std::int64_t gpus_held_ = 0;
  double useful_gpus_ = 0;
  HostShare host_held_;
  bool host_seen_ = false;  // some grant held CPUs or memory
  bool grants_seen_ = false;
  bool rates_known_ = true;
  Sums sums_;
  Sums sums_at_last_end_;
  // Until the last submission.
  double held_while_arriving_ = 0;
  double useful_while_arriving_ = 0;
};

}  // namespace orrery
