#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"

namespace orrery {

// What a workload holds, before anything has run. Times and GPU hours are those of jobs alone on
// the GPUs they ask for, without start-up.
struct TraceSummary {
  // The jobs that ask for, or run for, more than `above` and at most `up_to`.
  struct Part {
    double above = 0;
    double up_to = 0;  // infinity: the rest
    std::int64_t jobs = 0;
    double gpu_hours = 0;
  };

  std::string name;
  std::string format;  // empty: read from no trace
  std::int64_t jobs = 0;
  double first_submit_s = 0;
  double span_s = 0;  // from the first submission to the last
  double gpu_hours = 0;
  // GPU hours submitted in an hour, which is the number of busy GPUs. None if all come at once.
  std::optional<double> load_gpus;
  std::int64_t peak_gpus = 0;  // held at once if every job ran when it was submitted
  std::vector<Part> sizes;     // by GPUs, in powers of two; only those that have jobs
  std::vector<Part> durations;
  double mean_s = 0;
  double min_s = 0;
  double p10_s = 0;
  double p50_s = 0;
  double p90_s = 0;
  double p99_s = 0;
  double max_s = 0;
  std::int64_t users = 0;                   // 0: the trace names none
  std::optional<double> busiest_user_part;  // of the GPU hours
  std::int64_t models = 0;
  std::int64_t gpu_types = 0;
  std::int64_t with_cpus = 0;  // jobs that say so
  std::int64_t with_memory = 0;
  std::int64_t with_deadline = 0;
  std::int64_t elastic = 0;
  std::vector<Oddity> oddities;
};

// The workload must have a job.
TraceSummary summarise(const Workload& workload);

// For people; no line is wider than `width` columns, if that is at least 60.
std::string to_text(const TraceSummary& summary, int width);
std::string to_json(const TraceSummary& summary);

// One sentence on what was left out or changed; empty: nothing was.
std::string oddities_line(const Workload& workload);

}  // namespace orrery
