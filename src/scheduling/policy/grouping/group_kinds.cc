#include "scheduling/policy/grouping/group_kinds.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {

GroupKinds::GroupKinds(const Workload& workload, Ordering ordering,
                       const ContentionModel& contention)
    : workload_(workload),
      ordering_(ordering),
      contention_(contention),
      speed_(workload.profiles, ordering, contention),
      best_speed_(workload.profiles, Ordering::Best, contention) {}

std::size_t GroupKinds::SolosHash::operator()(
    const std::array<std::int32_t, kGroupMax>& solos) const {
  std::size_t hash = 0;
  for (const std::int32_t solo : solos) {
    hash = (hash ^ static_cast<std::size_t>(solo)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

int GroupKinds::of_job(JobId job) {
  if (solo_of_job_.size() <= index(job)) {
    solo_of_job_.resize(std::max(index(job) + 1, workload_.jobs.size()), -1);
  }
  std::int32_t& solo = solo_of_job_[index(job)];
  if (solo < 0) {
    const JobSpec& spec = workload_.jobs[index(job)];
    const auto [found, added] = solo_ids_.try_emplace(std::pair(spec.profile, spec.iteration_s),
                                                      static_cast<std::int32_t>(solos_.size()));
    solo = found->second;
    if (added) {
      solos_.push_back({spec.profile, spec.iteration_s});
      Kind kind;
      kind.solos.fill(-1);
      kind.solos[0] = solo;
      kind.size = 1;
      kind_of_solo_.push_back(intern(kind));
    }
  }
  return kind_of_solo_[static_cast<std::size_t>(solo)];
}

int GroupKinds::together(int a, int b) {
  const auto low = static_cast<std::uint64_t>(std::min(a, b));
  const auto high = static_cast<std::uint64_t>(std::max(a, b));
  const auto [found, added] = together_.try_emplace(high << 32 | low, -1);
  if (!added) return found->second;
  const Kind& first = at(a);
  const Kind& second = at(b);
  if (first.size + second.size > kGroupMax) return -1;
  Kind kind;
  kind.solos.fill(-1);
  kind.size = first.size + second.size;
  std::merge(first.solos.begin(), first.solos.begin() + first.size, second.solos.begin(),
             second.solos.begin() + second.size, kind.solos.begin());
  const StageProfile* shape = nullptr;
  for (int i = 0; i < kind.size; ++i) {
    const ProfileId profile =
        solos_[static_cast<std::size_t>(kind.solos[static_cast<std::size_t>(i)])].profile;
    if (profile == kNoProfile) return -1;
    const StageProfile& stages = workload_.profiles[index(profile)];
    if (shape != nullptr && shape->slots != stages.slots) return -1;
    shape = &stages;
  }
  if (kind.size > slots_in_cycle(*shape)) return -1;
  return found->second = intern(kind);
}

int GroupKinds::intern(Kind kind) {
  const auto [found, added] =
      kind_ids_.try_emplace(kind.solos, static_cast<std::int32_t>(kinds_.size()));
  if (added) {
    evaluate(kind);
    kinds_.push_back(kind);
  }
  return found->second;
}

void GroupKinds::evaluate(Kind& kind) {
  std::array<ProfileId, kGroupMax> profiles{};
  std::array<const StageProfile*, kGroupMax> stages{};
  double alone_sum_s = 0;
  const auto size = static_cast<std::size_t>(kind.size);
  for (std::size_t i = 0; i < size; ++i) {
    const Solo& solo = solos_[static_cast<std::size_t>(kind.solos[i])];
    profiles[i] = solo.profile;
    alone_sum_s += solo.iteration_s * contention_.factor(1);
    if (solo.profile != kNoProfile) stages[i] = &workload_.profiles[index(solo.profile)];
  }
  if (kind.size == 1) {
    kind.cycle_s = alone_sum_s;
    return;
  }
  const auto speed = speed_.find({profiles.data(), size});
  kind.cycle_s = speed.cycle_s;
  kind.efficiency = speed.efficiency;
  kind.slower = best_speed_.cycle_s({profiles.data(), size}) / alone_sum_s > 1;
  kind.gain = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double alone_s =
        solos_[static_cast<std::size_t>(kind.solos[i])].iteration_s * contention_.factor(1);
    kind.gain += alone_s / kind.cycle_s;
    kind.slowdown = std::max(kind.slowdown, kind.cycle_s / alone_s);
  }
  const Interleaving cycle = interleave({stages.data(), size}, ordering_);
  for (std::size_t i = 0; i < size; ++i)
    kind.positions[i] = static_cast<std::int8_t>(cycle.positions[i]);
}

}  // namespace orrery
