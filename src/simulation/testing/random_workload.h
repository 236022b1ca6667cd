#pragma once

#include <algorithm>
#include <string>

#include "scheduling/placement/random_cluster.h"

namespace orrery {

// For tests: a seeded workload with everything a trace may hold, and one job too large for the
// cluster. Names of GPU types come first, as random_shape() expects.
inline std::vector<StageProfile> random_profiles(Random& random) {
  std::vector<StageProfile> profiles;
  for (const std::vector<int>& slots : std::vector<std::vector<int>>{{2, 1, 1},
                                                                     {2, 1, 1},
                                                                     {2, 1, 1},
                                                                     {2, 1, 1},
                                                                     {1, 1, 1, 1},
                                                                     {1, 1, 1, 1},
                                                                     {1, 1},
                                                                     {1, 1, 1}}) {
    StageProfile profile{.stage_s = {}, .slots = slots};
    for (std::size_t i = 0; i < slots.size(); ++i) {
      profile.stage_s.push_back(i > 0 && random.uniform() < 0.15 ? 0 : random.uniform());
    }
    profiles.push_back(profile);
  }
  return profiles;
}

inline JobSpec random_job(Random& random, const std::vector<StageProfile>& profiles) {
  const Shape shape = random_shape(random);
  JobSpec job;
  job.gpus = shape.gpus;
  job.cpu_milli = shape.cpu_milli;
  job.memory_bytes = shape.memory_bytes;
  job.gpu_memory_bytes = shape.gpu_memory_bytes;
  job.gpu_type = shape.gpu_type;
  job.iterations = static_cast<double>(random.between(1, 1500));
  job.iteration_s = 0.01 + random.uniform();
  if (random.uniform() < 0.7)
    job.start_cost = from_seconds(static_cast<double>(random.between(1, 40)));
  if (random.uniform() < 0.75) {
    const auto count = static_cast<std::int64_t>(profiles.size());
    job.profile = static_cast<ProfileId>(random.between(0, count - 1));
    double sum_s = 0;
    for (const double stage_s : profiles[index(job.profile)].stage_s) sum_s += stage_s;
    job.iteration_s = sum_s * (0.8 + 0.3 * random.uniform());
  }
  job.priority = random.uniform() < 0.3 ? 1 : 0;
  return job;
}

// Arrivals fall on whole minutes, so that many coincide, unless `distinct`.
inline Workload random_workload(Random& random, const Cluster& cluster, int jobs,
                                bool distinct = false) {
  Workload workload;
  workload.name = "random";
  workload.names = random_gpu_types();
  workload.profiles = random_profiles(random);
  const std::vector<int> few = {1, 2, 4};
  const bool few_shapes = random.uniform() < 0.5;
  for (int i = 0; i < jobs; ++i) {
    JobSpec job = random_job(random, workload.profiles);
    if (few_shapes) {
      job.gpus = pick(random, few);
      job.cpu_milli = job.cpu_milli > 0 ? job.gpus * 1000 : 0;
      job.memory_bytes = job.memory_bytes > 0 ? job.gpus * std::int64_t{2'000'000'001} : 0;
      job.gpu_memory_bytes = job.gpu_memory_bytes > 0 ? 9'000'000'000 : 0;
    }
    if (i == jobs / 2) job.gpus = cluster.gpus_total() + 1;
    const double at_s = distinct ? i * 37 + random.uniform() : 60.0 * double(random.between(0, 12));
    job.submitted = time_from_seconds(at_s);
    workload.jobs.push_back(job);
  }
  std::ranges::stable_sort(workload.jobs, {}, &JobSpec::submitted);
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    workload.jobs[i].id = static_cast<JobId>(i);
    workload.jobs[i].name = "job" + std::to_string(i);
  }
  return workload;
}

// Gives two jobs of three a curve, most with diminishing returns and some not even for one GPU, and
// half of them a deadline that may be loose, tight or past.
inline void add_curves_and_deadlines(Random& random, Workload& workload) {
  for (JobSpec& job : workload.jobs) {
    if (random.uniform() < 0.67) {
      SpeedCurve& curve = workload.curves.emplace_back();
      double speed = 0.2 + 3 * random.uniform();
      for (int gpus = random.uniform() < 0.8 ? 1 : 2; gpus <= 16; gpus *= 2) {
        curve.points.push_back({gpus, speed});
        if (gpus > 1) curve.spreads.push_back({gpus, 2, speed * (0.7 + 0.3 * random.uniform())});
        speed *= 0.9 + random.uniform();
      }
      job.curve = static_cast<CurveId>(workload.curves.size() - 1);
    }
    if (random.uniform() < 0.5) {
      job.deadline = job.submitted + from_seconds(job.duration_s() * 3 * random.uniform());
      if (random.uniform() < 0.3) job.deadline_kind = DeadlineKind::Soft;
    }
  }
}

}  // namespace orrery
