#include "live/daemon/policy/job_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// An elastic job whose scaling was not measured: 1.8 times as fast on twice as many GPUs. Ours,
// so that a policy neither takes scaling for free nor for hopeless.
constexpr double kScaling = 0.848;

// The place of a value in a table, each once.
template <class Id, class Value>
Id place_of(std::vector<Value>& table, Value value) {
  const auto known = std::ranges::find(table, value);
  const auto place = static_cast<Id>(known - table.begin());
  if (known == table.end()) table.push_back(std::move(value));
  return place;
}

SpeedCurve assumed(const JobRequest& request) {
  SpeedCurve curve;
  curve.widest = request.gpus_max;
  for (int gpus = request.gpus_min; gpus <= request.gpus_max; ++gpus) {
    const double ratio = static_cast<double>(gpus) / request.gpus;
    curve.points.push_back({.gpus = gpus, .iterations_per_s = std::pow(ratio, kScaling)});
  }
  return curve;
}

// Nothing where the count asked for was not measured: then the others cannot be compared with it.
std::optional<SpeedCurve> measured(const JobRequest& request) {
  if (!request.speeds) return {};
  SpeedCurve curve = *request.speeds;
  const auto asked = std::ranges::find(curve.points, request.gpus, &SpeedCurve::Point::gpus);
  if (asked == curve.points.end() || !(asked->iterations_per_s > 0)) return {};
  const double unit = asked->iterations_per_s;
  const auto outside = [&](const auto& point) {
    return point.gpus < request.gpus_min || point.gpus > request.gpus_max ||
           !(point.iterations_per_s > 0);
  };
  std::erase_if(curve.points, outside);
  std::erase_if(curve.spreads, outside);
  for (SpeedCurve::Point& point : curve.points) point.iterations_per_s /= unit;
  for (SpeedCurve::Spread& spread : curve.spreads) spread.iterations_per_s /= unit;
  curve.widest = curve.points.back().gpus;
  return curve;
}

CurveId curve_of(Workload& workload, const JobRequest& request) {
  if (request.gpus_max <= request.gpus_min) return kNoCurve;
  std::optional<SpeedCurve> curve = measured(request);
  return place_of<CurveId>(workload.curves, curve ? *std::move(curve) : assumed(request));
}

}  // namespace

NameId name_id(Workload& workload, NameIds& names, const std::string& name) {
  if (name.empty()) return kNoName;
  const auto [found, added] = names.try_emplace(name, static_cast<NameId>(workload.names.size()));
  if (added) workload.names.push_back(name);
  return found->second;
}

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
  const Duration expected = request.expected > Duration::zero()     ? request.expected
                            : request.time_limit > Duration::zero() ? request.time_limit
                                                                    : options.expected_default;
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
               .lasting = true,  // placement by survival treats all jobs alike
               .priority = request.priority < 0 ? 1 : 0,
               .deadline = {},
               .deadline_kind = request.deadline_is_soft ? DeadlineKind::Soft : DeadlineKind::Hard,
               .curve = curve_of(workload, request)};
  if (request.deadline) spec.deadline = submitted + *request.deadline;
  if (request.sensitivity) {
    spec.sensitivity = place_of<SensitivityId>(workload.sensitivities, *request.sensitivity);
  }
  if (options.profile) options.profile(workload, spec, request);
  workload.jobs.push_back(std::move(spec));
}

}  // namespace orrery
