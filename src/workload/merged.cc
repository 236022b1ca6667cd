#include "workload/merged.h"

#include "workload/workload_builder.h"

namespace orrery {
namespace {

Status add_all(const Workload& from, WorkloadBuilder& builder) {
  for (JobSpec job : from.jobs) {
    job.model = builder.name_id(from.name_of(job.model));
    job.user = builder.name_id(from.name_of(job.user));
    job.gpu_type = builder.name_id(from.name_of(job.gpu_type));
    if (job.profile != kNoProfile) {
      const StageProfile& profile = from.profiles[index(job.profile)];
      job.profile = builder.profile_id(profile.stage_s, profile.slots);
    }
    if (job.curve != kNoCurve) job.curve = builder.curve_id(from.curves[index(job.curve)]);
    if (job.sensitivity != kNoSensitivity) {
      job.sensitivity = builder.sensitivity_id(from.sensitivities[index(job.sensitivity)]);
    }
    TRY(builder.add(std::move(job)));
  }
  return {};
}

}  // namespace

Result<Workload> merged(const Workload& first, const Workload& second) {
  WorkloadBuilder builder(first.name);
  TRY(add_all(first, builder));
  TRY(add_all(second, builder));
  return std::move(builder).finish(0);
}

}  // namespace orrery
