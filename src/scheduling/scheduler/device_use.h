#pragma once

#include <memory>
#include <vector>

#include "scheduling/prediction/group_speed.h"
#include "scheduling/prediction/trainer.h"
#include "scheduling/scheduler/executor.h"
#include "scheduling/scheduler/state.h"

namespace orrery {

// Which jobs use which devices, and how long an iteration takes each of them: the same arithmetic
// wherever machines are. Jobs and nodes may be added at any time.
class DeviceUse {
 public:
  DeviceUse(const Workload& workload, const Progress& progress, const ContentionModel& contention);

  void follow(const State& state) { state_ = &state; }
  // With a trainer, jobs it knows run at its speed.
  void set_trainer(const Trainer* trainer) { trainer_ = trainer; }
  // By job: how fast it is alone, over what its profile says.
  void set_real_speeds(std::vector<double> speeds) { real_speed_ = std::move(speeds); }

  void occupy(JobId job, const Grant& grant);
  void vacate(JobId job);

  struct Pace {
    JobId job = kNoJob;
    double iteration_s = 0;
    Duration start{};  // what starting all jobs takes that share its devices
  };
  // The paces of all jobs that came or whose sharers changed since the last call; with a trainer,
  // those of all running jobs, as they change while training goes on.
  template <class Report>
  void settle(Report report) {
    if (trainer_ != nullptr) {
      for (const JobId job : state_->running()) touch(job);
    }
    for (const JobId job : touched_) {
      is_touched_[index(job)] = false;
      if (state_->job(job).state == JobState::Running) report(pace_of(job));
    }
    touched_.clear();
  }

 private:
  using Sharers = std::vector<JobId>;

  Sharers& sharers(NodeId node, int gpu);
  void touch(JobId job);
  Pace pace_of(JobId job);
  Pace group_pace(JobId job, const Sharers& members);
  double beside_others_s(JobId job);
  double alone_s(JobId job) const;
  double profile_s(JobId job) const;  // the same as its profile has it
  bool has_three_stages(ProfileId profile) const;
  const JobSpec& spec(JobId job) const { return *state_->job(job).spec; }

  const Workload& workload_;
  const Progress& progress_;
  const State* state_ = nullptr;
  ContentionModel contention_;
  const Trainer* trainer_ = nullptr;
  GroupSpeed group_speed_;
  std::vector<Sharers>
      sharers_;  // by device: the jobs that share it; exclusive holders are not listed
  std::vector<std::unique_ptr<Grant>> shared_;  // by job: its grant, if it shares devices
  std::vector<JobId> touched_;
  std::vector<bool> is_touched_;
  std::vector<ProfileId> cycle_;
  std::vector<double> real_speed_;  // empty: all as their profiles say
};

// When the first iteration begins after an action that is carried out now.
Time ready_after(const Action& action, const Job& job, Time now);

}  // namespace orrery
