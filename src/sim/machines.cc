#include "sim/machines.h"

#include <algorithm>
#include <bit>

#include "base/invariant.h"
#include "base/random.h"
#include "predict/host_need.h"
#include "predict/opportunistic.h"
#include "predict/speed_curve.h"

namespace orrery {

Machines::Machines(const Workload& workload, const Cluster& cluster, Semantics& semantics,
                   const ContentionModel& contention, const Trainer* trainer)
    : workload_(workload),
      semantics_(semantics),
      contention_(contention),
      trainer_(trainer),
      group_speed_(workload.profiles, Ordering::AsGiven, contention_),
      companies_(cluster.nodes.size() * kGpusPerNodeMax),
      seats_(workload.jobs.size()),
      is_touched_(workload.jobs.size()) {}

// A stream of its own for each job, so that a longer trace changes nothing for those before.
void Machines::err_in_speeds(double error, std::uint64_t seed) {
  real_speed_.clear();
  for (std::size_t job = 0; job < workload_.jobs.size(); ++job) {
    Random random(seed * 0x9e3779b97f4a7c15 + job);
    real_speed_.push_back(1 + error * (2 * random.uniform() - 1));
  }
}

double Machines::alone_s(JobId job) const {
  const double real = real_speed_.empty() ? 1 : real_speed_[index(job)];
  return profile_s(job) / real;
}

double Machines::profile_s(JobId job) const {
  const JobSpec& spec = workload_.jobs[index(job)];
  const Grant& grant = scheduler_->state().job(job).held;
  const Devices& held = grant.devices;
  const double hosted =
      host_speed(workload_, spec, {grant.cpu_milli, grant.memory_bytes}, gpu_count(held));
  if (spec.curve == kNoCurve) return spec.iteration_s * contention_.factor(1) / hosted;
  double speed =
      trainer_ == nullptr ? 0 : trainer_->iterations_per_s(spec, held, semantics_.work_left(job));
  if (speed == 0) {
    speed = speed_on(workload_, spec, gpu_count(held), static_cast<int>(held.size()));
  }
  INVARIANT(speed > 0, "a job is given a number of GPUs it can run on");
  return contention_.factor(1) / (speed * hosted);
}

void Machines::perform(const Action& action) {
  const JobId id = action.job;
  grow(index(id) + 1);
  if (action.kind == Action::Kind::Pause) {
    stand_up(id);
    scheduler_->paused(id, semantics_.drop(id), action.reason);
    return;
  }
  const Job& job = scheduler_->state().job(id);
  const bool runs = job.state == JobState::Running;
  const double left = runs ? semantics_.work_left(id) : job.work_left;
  const Time ready = ready_after(action, job);
  stand_up(id);
  scheduler_->held(action, ready, left);
  semantics_.hold(id, left, ready, job.held);
  sit_down(id, job.held);
  touch(id);
}

// A job that merely loses company, or takes another turn among the same, has nothing to restart.
Time Machines::ready_after(const Action& action, const Job& job) const {
  const GroupId group = action.grant->group;
  if (action.kind == Action::Kind::Regroup && (group == job.held.group || group == kNoGroup)) {
    return job.ready;
  }
  return now_ + job.spec->start_cost;
}

void Machines::grow(std::size_t jobs) {
  if (seats_.size() >= jobs) return;
  seats_.resize(std::max(jobs, workload_.jobs.size()));
  is_touched_.resize(seats_.size());
}

void Machines::leave(JobId job) { stand_up(job); }

void Machines::touch(JobId job) {
  if (is_touched_[index(job)]) return;
  is_touched_[index(job)] = true;
  touched_.push_back(job);
}

void Machines::sit_down(JobId job, const Grant& grant) {
  if (grant.sharing == Sharing::Exclusive) return;
  seats_[index(job)] = std::make_unique<Grant>(grant);
  for (const NodeShare& share : grant.devices) {
    for (std::uint64_t gpus = share.gpus; gpus != 0; gpus &= gpus - 1) {
      Company& here = company(share.node, std::countr_zero(gpus));
      for (const JobId other : here) touch(other);
      here.push_back(job);
    }
  }
}

void Machines::stand_up(JobId job) {
  const std::unique_ptr<Grant> seat = std::move(seats_[index(job)]);
  if (seat == nullptr) return;
  for (const NodeShare& share : seat->devices) {
    for (std::uint64_t gpus = share.gpus; gpus != 0; gpus &= gpus - 1) {
      Company& here = company(share.node, std::countr_zero(gpus));
      std::erase(here, job);
      for (const JobId other : here) touch(other);
    }
  }
}

void Machines::settle() {
  if (trainer_ != nullptr) {
    // Speeds change as training goes on.
    for (const JobId job : scheduler_->state().running()) touch(job);
  }
  for (const JobId job : touched_) {
    is_touched_[index(job)] = false;
    if (scheduler_->state().job(job).state == JobState::Running) set_pace(job);
  }
  touched_.clear();
}

void Machines::set_pace(JobId job) {
  const Grant* seat = seats_[index(job)].get();
  const Duration start = workload_.jobs[index(job)].start_cost;
  if (seat == nullptr || seat->sharing == Sharing::Guaranteed) {
    semantics_.pace(job, alone_s(job), start);
  } else if (seat->sharing == Sharing::Opportunistic) {
    semantics_.pace(job, beside_others_s(job), start);
  } else {
    const NodeShare& share = seat->devices.front();
    set_group_pace(job, company(share.node, std::countr_zero(share.gpus)));
  }
}

void Machines::set_group_pace(JobId job, const Company& members) {
  Duration start{};
  turn_.clear();
  for (const JobId member : members) {
    const Grant& seat = *seats_[index(member)];
    INVARIANT(seat.group == seats_[index(job)]->group, "one group at a time holds a device");
    start += workload_.jobs[index(member)].start_cost;
    const auto position = static_cast<std::size_t>(seat.position);
    if (turn_.size() <= position) turn_.resize(position + 1, kNoProfile);
    INVARIANT(turn_[position] == kNoProfile, "members take different turns");
    turn_[position] = workload_.jobs[index(member)].profile;
  }
  // Turns go round, so it does not matter who is called first.
  const auto first =
      std::ranges::find_if(turn_, [](ProfileId profile) { return profile != kNoProfile; });
  std::rotate(turn_.begin(), first, turn_.end());
  while (turn_.back() == kNoProfile) turn_.pop_back();
  const bool alone = members.size() == 1;
  semantics_.pace(job, alone ? alone_s(job) : group_speed_.cycle_s(turn_), start);
}

// What the model of jobs side by side can be asked about.
bool Machines::has_three_stages(ProfileId profile) const {
  return profile != kNoProfile && workload_.profiles[index(profile)].stage_s.size() == 3;
}

double Machines::beside_others_s(JobId job) {
  const JobSpec& own = workload_.jobs[index(job)];
  double slowest_s = alone_s(job);
  for (const NodeShare& share : seats_[index(job)]->devices) {
    for (std::uint64_t gpus = share.gpus; gpus != 0; gpus &= gpus - 1) {
      for (const JobId other : company(share.node, std::countr_zero(gpus))) {
        if (other == job) continue;
        const JobSpec& spec = workload_.jobs[index(other)];
        const bool known = has_three_stages(own.profile) && has_three_stages(spec.profile);
        const bool guaranteed = seats_[index(other)]->sharing == Sharing::Guaranteed;
        const double beside_s =
            guaranteed && known
                ? opportunistic_iteration_s(workload_.profiles[index(own.profile)],
                                            workload_.profiles[index(spec.profile)], alone_s(other))
                : alone_s(job) * kOpportunisticPairSlowdown;
        slowest_s = std::max(slowest_s, beside_s);
      }
    }
  }
  return slowest_s;
}

}  // namespace orrery
