#pragma once

#include <memory>
#include <vector>

#include "control/executor.h"
#include "control/scheduler.h"
#include "predict/group_speed.h"
#include "predict/trainer.h"
#include "sim/semantics.h"

namespace orrery {

// Simulated machines: carries actions out at once, and gives every job the speed that its company
// on the devices allows.
class Machines final : public Executor {
 public:
  // With a trainer, jobs it knows run at its speed.
  Machines(const Workload& workload, const Cluster& cluster, Semantics& semantics,
           const ContentionModel& contention, const Trainer* trainer = nullptr);

  void report_to(Scheduler& scheduler) { scheduler_ = &scheduler; }
  // Makes each job alone on its devices faster or slower than its profile, by at most this part.
  void err_in_speeds(double error, std::uint64_t seed);
  void set_time(Time now) { now_ = now; }
  void set_trainer(const Trainer* trainer) { trainer_ = trainer; }

  void perform(const Action& action) override;
  double work_left(JobId job) const override { return semantics_.work_left(job); }
  void expect(const Plan::Outlook& outlook) override { semantics_.expect(outlook); }
  const FloatingTime* floating_time() const override { return semantics_.floating_time(); }

  void leave(JobId job);  // it ended by itself
  void settle();          // the round is over: sets the speed of all whose company changed

 private:
  using Company = std::vector<JobId>;

  Company& company(NodeId node, int gpu) {
    return companies_[index(node) * kGpusPerNodeMax + static_cast<std::size_t>(gpu)];
  }
  void sit_down(JobId job, const Grant& grant);
  void stand_up(JobId job);
  void touch(JobId job);
  void grow(std::size_t jobs);
  void set_pace(JobId job);
  void set_group_pace(JobId job, const Company& members);
  double beside_others_s(JobId job);
  double alone_s(JobId job) const;
  double profile_s(JobId job) const;  // the same as its profile has it
  bool has_three_stages(ProfileId profile) const;
  Time ready_after(const Action& action, const Job& job) const;

  const Workload& workload_;
  Semantics& semantics_;
  Scheduler* scheduler_ = nullptr;
  Time now_{};
  ContentionModel contention_;
  const Trainer* trainer_;
  GroupSpeed group_speed_;
  std::vector<Company> companies_;  // by device: who shares it; exclusive holders are not listed
  std::vector<std::unique_ptr<Grant>> seats_;  // by job: what it shares, if it shares
  std::vector<JobId> touched_;
  std::vector<bool> is_touched_;
  std::vector<ProfileId> turn_;
  std::vector<double> real_speed_;  // by job: over its profile's; empty: all as they say
};

}  // namespace orrery
