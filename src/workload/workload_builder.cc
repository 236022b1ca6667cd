#include "workload/workload_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace orrery {
namespace {

constexpr std::size_t kJobsMax = 100'000'000;

template <class Id, class Value>
Id renumber(Id id, std::vector<Id>& new_id, std::vector<Value>& from, std::vector<Value>& to) {
  if (id == Id{-1}) return id;
  Id& known = new_id[index(id)];
  if (known == Id{-1}) {
    known = Id{static_cast<std::int32_t>(to.size())};
    to.push_back(std::move(from[index(id)]));
  }
  return known;
}

template <class Value>
void append_bytes(std::string& key, Value value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Names that differ in their last character only, such as numbers in a row, get slots side by side:
// a slot anywhere is a cache miss for each job.
std::uint32_t tag_of(std::string_view name) {
  if (name.empty()) return 0;
  const std::size_t hash = std::hash<std::string_view>()(name.substr(0, name.size() - 1));
  return static_cast<std::uint32_t>(hash << 4) | (static_cast<unsigned char>(name.back()) & 15u);
}

}  // namespace

NameId WorkloadBuilder::name_id(std::string_view name) {
  if (name.empty()) return kNoName;
  if (const auto found = names_.find(name); found != names_.end()) return found->second;
  const NameId id{static_cast<std::int32_t>(workload_.names.size())};
  workload_.names.emplace_back(name);
  names_.emplace(name, id);
  return id;
}

ProfileId WorkloadBuilder::profile_id(std::span<const double> stage_s, std::span<const int> slots) {
  INVARIANT(stage_s.size() == slots.size(), "every stage spans some slots");
  if (stage_s.empty()) return kNoProfile;
  key_.assign(reinterpret_cast<const char*>(stage_s.data()), stage_s.size_bytes());
  key_.append(reinterpret_cast<const char*>(slots.data()), slots.size_bytes());
  if (const auto found = profiles_.find(key_); found != profiles_.end()) return found->second;
  const ProfileId id{static_cast<std::int32_t>(workload_.profiles.size())};
  workload_.profiles.push_back({{stage_s.begin(), stage_s.end()}, {slots.begin(), slots.end()}});
  profiles_.emplace(key_, id);
  return id;
}

CurveId WorkloadBuilder::curve_id(SpeedCurve curve) {
  if (curve.points.empty()) return kNoCurve;
  curve.widest = std::max(curve.widest, curve.points.back().gpus);
  key_.clear();
  append_bytes(key_, curve.widest);
  for (const SpeedCurve::Point& point : curve.points) {
    append_bytes(key_, point.gpus);
    append_bytes(key_, point.iterations_per_s);
  }
  append_bytes(key_, 0);  // no point has so few GPUs
  for (const SpeedCurve::Spread& spread : curve.spreads) {
    append_bytes(key_, spread.gpus);
    append_bytes(key_, spread.nodes);
    append_bytes(key_, spread.iterations_per_s);
  }
  if (const auto found = curves_.find(key_); found != curves_.end()) return found->second;
  const CurveId id{static_cast<std::int32_t>(workload_.curves.size())};
  workload_.curves.push_back(std::move(curve));
  curves_.emplace(key_, id);
  return id;
}

SensitivityId WorkloadBuilder::sensitivity_id(const Sensitivity& sensitivity) {
  // There are a handful of models with one.
  auto& known = workload_.sensitivities;
  const auto found = std::ranges::find(known, sensitivity);
  const SensitivityId id{static_cast<std::int32_t>(found - known.begin())};
  if (found == known.end()) known.push_back(sensitivity);
  return id;
}

// Where the job of that name is, or a free slot if there is none.
std::size_t WorkloadBuilder::slot_of(std::string_view name, std::uint32_t tag) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = tag & mask;
  for (; slots_[at].job != 0; at = (at + 1) & mask) {
    if (slots_[at].tag == tag && workload_.jobs[slots_[at].job - 1].name == name) break;
  }
  return at;
}

void WorkloadBuilder::grow_slots() {
  const std::vector<Slot> old =
      std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(64, 2 * slots_.size())));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.job == 0) continue;
    std::size_t at = slot.tag & mask;
    while (slots_[at].job != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

void WorkloadBuilder::note(std::string_view what, std::int64_t line, bool left_out) {
  for (Oddity& oddity : workload_.oddities) {
    if (oddity.what != what) continue;
    ++oddity.count;
    return;
  }
  workload_.oddities.push_back(
      {.what = std::string(what), .count = 1, .first_line = line, .left_out = left_out});
}

Status WorkloadBuilder::append(JobSpec&& job) {
  if (workload_.jobs.size() == kJobsMax) {
    return invalid(fmt::format("more than {} jobs, the most a workload may have", kJobsMax));
  }
  auto& jobs = workload_.jobs;
  sorted_ = sorted_ && (jobs.empty() || jobs.back().submitted <= job.submitted);
  jobs.push_back(std::move(job));
  return {};
}

Status WorkloadBuilder::add(JobSpec job) {
  std::string name = job.name;
  TRY_ASSIGN(const bool added, add_if_new(std::move(job)));
  if (!added) return invalid(fmt::format("job_id '{}' was used before", name));
  return {};
}

Result<bool> WorkloadBuilder::add_if_new(JobSpec job) {
  const std::size_t count = workload_.jobs.size();
  if (slots_.size() <= 2 * count) grow_slots();
  const std::uint32_t tag = tag_of(job.name);
  const std::size_t at = slot_of(job.name, tag);
  if (slots_[at].job != 0) return false;
  TRY(append(std::move(job)));
  slots_[at] = {.tag = tag, .job = static_cast<std::uint32_t>(count + 1)};
  return true;
}

void WorkloadBuilder::sort_jobs() {
  if (sorted_) return;
  auto& jobs = workload_.jobs;
  // The order is found on indices and then applied cycle by cycle: a stable sort of the jobs
  // themselves would need memory for half of them again.
  std::vector<std::uint32_t> source(jobs.size());
  std::iota(source.begin(), source.end(), 0u);
  std::ranges::sort(source, {}, [&](std::uint32_t i) { return std::pair(jobs[i].submitted, i); });
  for (std::uint32_t start = 0; start < source.size(); ++start) {
    if (source[start] == start) continue;
    JobSpec first = std::move(jobs[start]);
    std::uint32_t at = start;
    while (source[at] != start) {
      jobs[at] = std::move(jobs[source[at]]);
      at = std::exchange(source[at], at);
    }
    jobs[at] = std::move(first);
    source[at] = at;
  }
}

void WorkloadBuilder::number_tables() {
  std::vector<NameId> name_of(workload_.names.size(), kNoName);
  std::vector<ProfileId> profile_of(workload_.profiles.size(), kNoProfile);
  std::vector<CurveId> curve_of(workload_.curves.size(), kNoCurve);
  std::vector<SensitivityId> sensitivity_of(workload_.sensitivities.size(), kNoSensitivity);
  std::vector<std::string> names;
  std::vector<StageProfile> profiles;
  std::vector<SpeedCurve> curves;
  std::vector<Sensitivity> sensitivities;
  for (std::size_t i = 0; i < workload_.jobs.size(); ++i) {
    JobSpec& job = workload_.jobs[i];
    job.id = JobId{static_cast<std::int32_t>(i)};
    job.model = renumber(job.model, name_of, workload_.names, names);
    job.user = renumber(job.user, name_of, workload_.names, names);
    job.gpu_type = renumber(job.gpu_type, name_of, workload_.names, names);
    job.profile = renumber(job.profile, profile_of, workload_.profiles, profiles);
    job.curve = renumber(job.curve, curve_of, workload_.curves, curves);
    job.sensitivity =
        renumber(job.sensitivity, sensitivity_of, workload_.sensitivities, sensitivities);
  }
  workload_.names = std::move(names);
  workload_.profiles = std::move(profiles);
  workload_.curves = std::move(curves);
  workload_.sensitivities = std::move(sensitivities);
}

Workload WorkloadBuilder::finish(std::int64_t limit) && {
  sort_jobs();
  if (begins_at_first_ && !workload_.jobs.empty()) {
    const Duration first = workload_.jobs.front().submitted.time_since_epoch();
    for (JobSpec& job : workload_.jobs) job.submitted -= first;
  }
  if (limit > 0 && static_cast<std::size_t>(limit) < workload_.jobs.size()) {
    workload_.jobs.resize(static_cast<std::size_t>(limit));
  }
  number_tables();
  return std::move(workload_);
}

}  // namespace orrery
