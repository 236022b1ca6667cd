#include "scheduling/scheduler/device_use.h"

#include <algorithm>
#include <bit>

#include "base/invariant.h"
#include "scheduling/prediction/host_need.h"
#include "scheduling/prediction/opportunistic.h"
#include "scheduling/prediction/speed_curve.h"

namespace orrery {

DeviceUse::DeviceUse(const Workload& workload, const Progress& progress,
                     const ContentionModel& contention)
    : workload_(workload),
      progress_(progress),
      contention_(contention),
      group_speed_(workload.profiles, Ordering::AsGiven, contention_) {}

// A job that merely loses a sharer, or takes another position in its group, need not restart.
Time ready_after(const Action& action, const Job& job, Time now) {
  const GroupId group = action.grant->group;
  if (action.kind == Action::Kind::Regroup && (group == job.held.group || group == kNoGroup)) {
    return job.ready;
  }
  return now + job.spec->start_cost;
}

DeviceUse::Sharers& DeviceUse::sharers(NodeId node, int gpu) {
  const std::size_t at = index(node) * kGpusPerNodeMax + static_cast<std::size_t>(gpu);
  if (sharers_.size() <= at) sharers_.resize((index(node) + 1) * kGpusPerNodeMax);
  return sharers_[at];
}

void DeviceUse::touch(JobId job) {
  if (is_touched_.size() <= index(job)) is_touched_.resize(2 * state_->jobs().size());
  if (is_touched_[index(job)]) return;
  is_touched_[index(job)] = true;
  touched_.push_back(job);
}

double DeviceUse::alone_s(JobId job) const {
  const double real = real_speed_.empty() ? 1 : real_speed_[index(job)];
  return profile_s(job) / real;
}

double DeviceUse::profile_s(JobId job) const {
  const JobSpec& spec = this->spec(job);
  const Grant& grant = state_->job(job).held;
  const Devices& held = grant.devices;
  const double hosted =
      host_speed(workload_, spec, {grant.cpu_milli, grant.memory_bytes}, gpu_count(held));
  if (spec.curve == kNoCurve) return spec.iteration_s * contention_.factor(1) / hosted;
  double speed =
      trainer_ == nullptr ? 0 : trainer_->iterations_per_s(spec, held, progress_.work_left(job));
  if (speed == 0) {
    speed = speed_on(workload_, spec, gpu_count(held), static_cast<int>(held.size()));
  }
  INVARIANT(speed > 0, "a job is given a number of GPUs it can run on");
  return contention_.factor(1) / (speed * hosted);
}

void DeviceUse::occupy(JobId job, const Grant& grant) {
  if (grant.sharing == Sharing::Exclusive) return touch(job);
  if (shared_.size() <= index(job)) shared_.resize(state_->jobs().size());
  shared_[index(job)] = std::make_unique<Grant>(grant);
  for (const NodeShare& share : grant.devices) {
    for (std::uint64_t gpus = share.gpus; gpus != 0; gpus &= gpus - 1) {
      Sharers& here = sharers(share.node, std::countr_zero(gpus));
      for (const JobId other : here) touch(other);
      here.push_back(job);
    }
  }
  touch(job);
}

void DeviceUse::vacate(JobId job) {
  if (shared_.size() <= index(job)) return;
  const std::unique_ptr<Grant> grant = std::move(shared_[index(job)]);
  if (grant == nullptr) return;
  for (const NodeShare& share : grant->devices) {
    for (std::uint64_t gpus = share.gpus; gpus != 0; gpus &= gpus - 1) {
      Sharers& here = sharers(share.node, std::countr_zero(gpus));
      std::erase(here, job);
      for (const JobId other : here) touch(other);
    }
  }
}

DeviceUse::Pace DeviceUse::pace_of(JobId job) {
  const Grant* grant = index(job) < shared_.size() ? shared_[index(job)].get() : nullptr;
  const Duration start = spec(job).start_cost;
  if (grant == nullptr || grant->sharing == Sharing::Guaranteed) {
    return {job, alone_s(job), start};
  }
  if (grant->sharing == Sharing::Opportunistic) return {job, beside_others_s(job), start};
  const NodeShare& share = grant->devices.front();
  return group_pace(job, sharers(share.node, std::countr_zero(share.gpus)));
}

DeviceUse::Pace DeviceUse::group_pace(JobId job, const Sharers& members) {
  Duration start{};
  cycle_.clear();
  for (const JobId member : members) {
    const Grant& grant = *shared_[index(member)];
    INVARIANT(grant.group == shared_[index(job)]->group, "one group at a time holds a device");
    start += spec(member).start_cost;
    const auto position = static_cast<std::size_t>(grant.position);
    if (cycle_.size() <= position) cycle_.resize(position + 1, kNoProfile);
    INVARIANT(cycle_[position] == kNoProfile, "members have different positions");
    cycle_[position] = spec(member).profile;
  }
  // Positions form a cycle, so it does not matter which is called first.
  const auto first =
      std::ranges::find_if(cycle_, [](ProfileId profile) { return profile != kNoProfile; });
  std::rotate(cycle_.begin(), first, cycle_.end());
  while (cycle_.back() == kNoProfile) cycle_.pop_back();
  const bool alone = members.size() == 1;
  return {job, alone ? alone_s(job) : group_speed_.cycle_s(cycle_), start};
}

// What the model of jobs side by side can be asked about.
bool DeviceUse::has_three_stages(ProfileId profile) const {
  return profile != kNoProfile && workload_.profiles[index(profile)].stage_s.size() == 3;
}

double DeviceUse::beside_others_s(JobId job) {
  const JobSpec& own = spec(job);
  double slowest_s = alone_s(job);
  for (const NodeShare& share : shared_[index(job)]->devices) {
    for (std::uint64_t gpus = share.gpus; gpus != 0; gpus &= gpus - 1) {
      for (const JobId other : sharers(share.node, std::countr_zero(gpus))) {
        if (other == job) continue;
        const JobSpec& beside = spec(other);
        const bool known = has_three_stages(own.profile) && has_three_stages(beside.profile);
        const bool guaranteed = shared_[index(other)]->sharing == Sharing::Guaranteed;
        const double beside_s = guaranteed && known
                                    ? opportunistic_iteration_s(
                                          workload_.profiles[index(own.profile)],
                                          workload_.profiles[index(beside.profile)], alone_s(other))
                                    : alone_s(job) * kOpportunisticPairSlowdown;
        slowest_s = std::max(slowest_s, beside_s);
      }
    }
  }
  return slowest_s;
}

}  // namespace orrery
