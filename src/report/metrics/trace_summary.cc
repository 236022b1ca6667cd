#include "report/metrics/trace_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/invariant.h"
#include "base/statistics.h"

namespace orrery {
namespace {

constexpr double kHour_s = 3600;
constexpr double kRest = std::numeric_limits<double>::infinity();
constexpr std::array<double, 8> kDurations_s = {10,           60,           600,           kHour_s,
                                                10 * kHour_s, 24 * kHour_s, 168 * kHour_s, kRest};

double gpu_hours(const JobSpec& job) { return job.gpus * job.duration_s() / kHour_s; }

std::vector<TraceSummary::Part> in_use(std::vector<TraceSummary::Part> parts) {
  std::erase_if(parts, [](const TraceSummary::Part& part) { return part.jobs == 0; });
  return parts;
}

void add(TraceSummary::Part& part, const JobSpec& job) {
  ++part.jobs;
  part.gpu_hours += gpu_hours(job);
}

void add_sizes(const Workload& workload, TraceSummary& summary) {
  constexpr std::size_t kPowers = 22;  // beyond the largest job a trace may hold
  std::vector<TraceSummary::Part> sizes(kPowers);
  for (std::size_t i = 0; i < kPowers; ++i) {
    sizes[i].above = i == 0 ? 0 : std::exp2(static_cast<double>(i) - 1);
    sizes[i].up_to = std::exp2(static_cast<double>(i));
  }
  for (const JobSpec& job : workload.jobs) {
    std::size_t power = 0;
    while (power + 1 < kPowers && sizes[power].up_to < job.gpus) ++power;
    add(sizes[power], job);
  }
  summary.sizes = in_use(std::move(sizes));
}

void add_durations(const Workload& workload, TraceSummary& summary) {
  std::vector<TraceSummary::Part> parts(kDurations_s.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].above = i == 0 ? 0 : kDurations_s[i - 1];
    parts[i].up_to = kDurations_s[i];
  }
  std::vector<double> sorted;
  sorted.reserve(workload.jobs.size());
  double sum_s = 0;
  for (const JobSpec& job : workload.jobs) {
    const double duration_s = job.duration_s();
    sum_s += duration_s;
    sorted.push_back(duration_s);
    std::size_t at = 0;
    while (at + 1 < parts.size() && parts[at].up_to < duration_s) ++at;
    add(parts[at], job);
  }
  std::ranges::sort(sorted);
  summary.durations = in_use(std::move(parts));
  summary.mean_s = sum_s / static_cast<double>(sorted.size());
  summary.min_s = sorted.front();
  summary.p10_s = quantile(sorted, 0.1, QuantileRule::Nearest);
  summary.p50_s = quantile(sorted, 0.5, QuantileRule::Nearest);
  summary.p90_s = quantile(sorted, 0.9, QuantileRule::Nearest);
  summary.p99_s = quantile(sorted, 0.99, QuantileRule::Nearest);
  summary.max_s = sorted.back();
}

void add_load(const Workload& workload, TraceSummary& summary) {
  for (const JobSpec& job : workload.jobs) summary.gpu_hours += gpu_hours(job);
  summary.first_submit_s = seconds(workload.jobs.front().submitted);
  summary.span_s = seconds(workload.jobs.back().submitted - workload.jobs.front().submitted);
  if (summary.span_s > 0) summary.load_gpus = summary.gpu_hours * kHour_s / summary.span_s;
  std::vector<std::pair<double, int>> changes;  // ends come before starts of the same instant
  changes.reserve(2 * workload.jobs.size());
  for (const JobSpec& job : workload.jobs) {
    changes.emplace_back(seconds(job.submitted), job.gpus);
    changes.emplace_back(seconds(job.submitted) + job.duration_s(), -job.gpus);
  }
  std::ranges::sort(changes);
  std::int64_t held = 0;
  for (const auto& [when, gpus] : changes) {
    held += gpus;
    summary.peak_gpus = std::max(summary.peak_gpus, held);
  }
}

void add_names(const Workload& workload, TraceSummary& summary) {
  std::vector<double> hours_of(workload.names.size(), 0);
  std::vector<bool> user(workload.names.size()), model(user), type(user);
  for (const JobSpec& job : workload.jobs) {
    if (job.user != kNoName) {
      user[index(job.user)] = true;
      hours_of[index(job.user)] += gpu_hours(job);
    }
    if (job.model != kNoName) model[index(job.model)] = true;
    if (job.gpu_type != kNoName) type[index(job.gpu_type)] = true;
    summary.with_cpus += job.cpu_milli > 0 ? 1 : 0;
    summary.with_memory += job.memory_bytes > 0 ? 1 : 0;
    summary.with_deadline += job.deadline ? 1 : 0;
    summary.elastic += job.curve != kNoCurve ? 1 : 0;
  }
  summary.users = std::ranges::count(user, true);
  summary.models = std::ranges::count(model, true);
  summary.gpu_types = std::ranges::count(type, true);
  if (summary.users > 0 && summary.gpu_hours > 0) {
    summary.busiest_user_part = std::ranges::max(hours_of) / summary.gpu_hours;
  }
}

}  // namespace

TraceSummary summarise(const Workload& workload) {
  INVARIANT(!workload.jobs.empty(), "a summary is of some jobs");
  TraceSummary summary;
  summary.name = workload.name;
  summary.format = workload.format;
  summary.jobs = static_cast<std::int64_t>(workload.jobs.size());
  add_load(workload, summary);
  add_sizes(workload, summary);
  add_durations(workload, summary);
  add_names(workload, summary);
  summary.oddities = workload.oddities;
  return summary;
}

}  // namespace orrery
