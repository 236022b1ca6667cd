#pragma once

#include "model/job.h"

namespace orrery {

// True if two workloads hold the same jobs, names and profiles under the same numbers; what the
// workloads are called does not matter.
inline bool same_job(const JobSpec& a, const JobSpec& b) {
  return a.id == b.id && a.name == b.name && a.submitted == b.submitted && a.gpus == b.gpus &&
         a.cpu_milli == b.cpu_milli && a.memory_bytes == b.memory_bytes &&
         a.gpu_memory_bytes == b.gpu_memory_bytes && a.iterations == b.iterations &&
         a.iteration_s == b.iteration_s && a.start_cost == b.start_cost &&
         a.checkpoint_cost == b.checkpoint_cost && a.profile == b.profile && a.model == b.model &&
         a.user == b.user && a.gpu_type == b.gpu_type && a.batch_size == b.batch_size &&
         a.priority == b.priority && a.deadline == b.deadline &&
         a.deadline_kind == b.deadline_kind && a.deadline_value == b.deadline_value &&
         a.curve == b.curve && a.sensitivity == b.sensitivity;
}

inline bool same_workload(const Workload& a, const Workload& b) {
  if (a.jobs.size() != b.jobs.size() || a.names != b.names || a.profiles != b.profiles ||
      a.curves != b.curves || a.sensitivities != b.sensitivities) {
    return false;
  }
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    if (!same_job(a.jobs[i], b.jobs[i])) return false;
  }
  return true;
}

}  // namespace orrery
