#include "experiments/runs/warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduling/policy/registry.h"

namespace orrery {
namespace {

constexpr double kDay_s = 86400;
constexpr std::size_t kStagesOfClasses = 3;  // AntMan's model of sharing knows three stages

bool is_opportunistic(const JobSpec& job) { return job.priority != 0; }

std::size_t stages_of(const Workload& workload, const JobSpec& job) {
  return job.profile == kNoProfile ? 0 : workload.profiles[index(job.profile)].stage_s.size();
}

template <class Predicate>
std::string share_of(const Workload& workload, Predicate predicate, std::string_view what) {
  const auto count = std::ranges::count_if(workload.jobs, predicate);
  if (count == 0) return "";
  return fmt::format("{} of {} jobs {}", count, workload.jobs.size(), what);
}

void add(std::vector<std::string>& warnings, const std::string& share, std::string_view effect) {
  if (!share.empty()) warnings.push_back(fmt::format("{}: {}", share, effect));
}

void add_stage_warnings(const Workload& workload, const JobData& data,
                        std::vector<std::string>& warnings) {
  if (!data.stages) return;
  if (!data.classes) {
    const auto lacks = [&](const JobSpec& job) { return stages_of(workload, job) == 0; };
    add(warnings, share_of(workload, lacks, "have no stage profile"), data.without);
    return;
  }
  if (std::ranges::none_of(workload.jobs, is_opportunistic)) {
    warnings.emplace_back("no job is opportunistic: all jobs run in order of submission");
    return;
  }
  const auto lacks = [&](const JobSpec& job) {
    return stages_of(workload, job) != kStagesOfClasses;
  };
  add(warnings, share_of(workload, lacks, "have no profile of three stages"), data.without);
}

void add_curve_warnings(const Workload& workload, const JobData& data,
                        std::vector<std::string>& warnings) {
  if (!data.curves) return;
  const auto lacks = [](const JobSpec& job) { return job.curve == kNoCurve; };
  add(warnings, share_of(workload, lacks, "have no speed curve (--profiles)"),
      "each keeps the GPUs that it asks for");
}

void add_deadline_warnings(const Workload& workload, const JobData& data,
                           std::vector<std::string>& warnings) {
  const auto has = [](const JobSpec& job) { return job.deadline.has_value(); };
  if (!data.deadlines) {
    add(warnings, share_of(workload, has, "have a deadline"), "this policy ignores deadlines");
  } else if (std::ranges::none_of(workload.jobs, has)) {
    warnings.emplace_back("no job has a deadline: all jobs are best effort");
  }
}

void add_host_warnings(const Workload& workload, std::string_view policy,
                       std::vector<std::string>& warnings) {
  const std::string_view name = parse_policy_name(policy).allocator;
  const auto allocator = std::ranges::find(allocators(), name, &AllocatorInfo::name);
  if (allocator == allocators().end() || !allocator->sensitivities) return;
  const auto lacks = [](const JobSpec& job) { return job.sensitivity == kNoSensitivity; };
  add(warnings, share_of(workload, lacks, "have no sensitivity profile (--profiles)"),
      "CPUs and memory do not change their speed");
}

}  // namespace

std::vector<std::string> data_warnings(const Workload& workload, std::string_view policy) {
  std::vector<std::string> warnings;
  const std::string_view base = parse_policy_name(policy).base;
  const auto info = std::ranges::find(policies(), base, &PolicyInfo::name);
  if (info == policies().end() || workload.jobs.empty()) return warnings;
  add_stage_warnings(workload, info->data, warnings);
  add_curve_warnings(workload, info->data, warnings);
  add_deadline_warnings(workload, info->data, warnings);
  add_host_warnings(workload, policy, warnings);
  return warnings;
}

void add_warnings(const Cluster& cluster, RunSummary& run) {
  if (run.too_large == 0) return;
  run.warnings.push_back(fmt::format(
      "{} of {} jobs ask for more than the whole cluster has ({} GPUs): they are rejected",
      run.too_large, run.jobs, cluster.gpus_total()));
}

void add_scenario_warning(const NodeScenario& nodes, RunSummary& run) {
  if (!run.makespan_s || *run.makespan_s <= seconds(nodes.end)) return;
  run.warnings.push_back(
      fmt::format("the run ends at {:.1f} days, but what happens to nodes is known until {:.1f} "
                  "days: later none is lost",
                  *run.makespan_s / kDay_s, seconds(nodes.end) / kDay_s));
}

std::string warning_lines(std::span<const ReportRun> runs) {
  std::vector<std::string> lines;
  for (const ReportRun& run : runs) {
    for (const std::string& warning : run.summary.warnings) {
      std::string line = fmt::format("orrery: warning: {}, {}: {}\n", run.summary.trace,
                                     run.summary.policy, warning);
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace orrery
