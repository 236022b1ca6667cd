#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "model/event.h"
#include "model/job_state.h"
#include "model/job_window.h"
#include "report/metrics/fairness_sums.h"

namespace orrery {

// What became of one job of a run.
struct JobRecord {
  Time started = kNever;
  Time ended = kNever;
  Duration held{};  // time in which it had GPUs
  std::optional<double> rho{};
  std::int32_t preemptions = 0;
  JobState state = JobState::Pending;
  bool submitted = false;
  bool in_time = false;  // completed, and its last iteration was done by its deadline
};
using JobRecords = std::vector<JobRecord>;  // by JobId

// Folds a run's events into a record for each job.
class JobRecorder final : public EventSink {
 public:
  explicit JobRecorder(const Cluster& cluster) : fairness_(cluster.gpus_total()) {}

  void write(const Event& event) override;
  JobRecords records() && { return std::move(records_); }

 private:
  struct Stay {
    std::int32_t place = kNoSlot;
    Time held_since = kNever;
    Time deadline = kNever;
  };

  FairnessSums fairness_;
  JobRecords records_;
  std::vector<Stay> stays_;
};

// The names of the columns, separated by commas.
std::string job_columns();

// A CSV line for each job that was submitted, in the order of JobId, with `prefix` in front.
// docs/formats/jobs-csv.md defines the columns.
void append_job_lines(fmt::memory_buffer& out, std::string_view prefix, const Workload& workload,
                      const JobRecords& records, const std::optional<JobWindow>& window);

}  // namespace orrery
