#include "daemon/job_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// An elastic job whose scaling nobody has measured: 1.8 times as fast on twice as many GPUs. Ours,
// so that a policy neither takes scaling for free nor for hopeless.
constexpr double kScaling = 0.848;

NameId name_id(Workload& workload, NameIds& names, const std::string& name) {
  if (name.empty()) return kNoName;
  const auto [found, added] = names.try_emplace(name, static_cast<NameId>(workload.names.size()));
  if (added) workload.names.push_back(name);
  return found->second;
}

CurveId curve_of(Workload& workload, const JobRequest& request) {
  if (request.gpus_max <= request.gpus_min) return kNoCurve;
  SpeedCurve curve;
  curve.widest = request.gpus_max;
  for (int gpus = request.gpus_min; gpus <= request.gpus_max; ++gpus) {
    const double ratio = static_cast<double>(gpus) / request.gpus;
    curve.points.push_back({.gpus = gpus, .iterations_per_s = std::pow(ratio, kScaling)});
  }
  const auto known = std::ranges::find(workload.curves, curve);
  if (known != workload.curves.end()) {
    return static_cast<CurveId>(known - workload.curves.begin());
  }
  workload.curves.push_back(std::move(curve));
  return static_cast<CurveId>(workload.curves.size() - 1);
}

}  // namespace

std::string job_name(const JobRequest& request, int array_index) {
  const std::string& program = request.argv.front();
  std::string name = request.name.empty() ? program.substr(program.rfind('/') + 1) : request.name;
  if (array_index >= 0) name += fmt::format("[{}]", array_index);
  return name;
}

const std::string& tenant_of(const JobRequest& request) {
  return request.tenant.empty() ? request.user : request.tenant;
}

void add_spec(Workload& workload, NameIds& names, const JobRequest& request, int array_index,
              Time submitted, const SpecOptions& options) {
  const Duration expected =
      request.expected > Duration::zero() ? request.expected : options.expected_default;
  JobSpec spec{.id = static_cast<JobId>(workload.jobs.size()),
               .name = job_name(request, array_index),
               .submitted = submitted,
               .gpus = request.gpus,
               .cpu_milli = request.cpu_milli,
               .memory_bytes = request.memory_bytes,
               .iterations = seconds(expected),
               .iteration_s = 1,
               .start_cost = request.start_cost,
               .model = name_id(workload, names, request.model),
               .user = name_id(workload, names, request.user),
               .gpu_type = name_id(workload, names, request.gpu_type),
               .priority = request.priority < 0 ? 1 : 0,
               .deadline = {},
               .deadline_kind = request.deadline_is_soft ? DeadlineKind::Soft : DeadlineKind::Hard,
               .curve = curve_of(workload, request)};
  if (request.deadline) spec.deadline = submitted + *request.deadline;
  workload.jobs.push_back(std::move(spec));
}

}  // namespace orrery
