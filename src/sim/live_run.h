#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/invariant.h"
#include "base/random.h"
#include "control/scheduler.h"
#include "policy/registry.h"
#include "sim/machines.h"

namespace orrery {

// For tests: a run whose jobs are not known beforehand and in which policies, nodes and jobs come
// and go as a live cluster's do.
class LiveRun {
 public:
  LiveRun(const Workload& to_come, const Cluster& cluster, const std::string& policy,
          EventSink& sink)
      : to_come_(to_come), cluster_(cluster), semantics_(make_orrery_semantics(0)) {
    workload_.names = to_come.names;
    hire(policy);
    machines_ = std::make_unique<Machines>(workload_, *semantics_, ContentionModel{},
                                           policies_.back().policy->trainer());
    scheduler_ = std::make_unique<Scheduler>(
        Scheduler::Parts{workload_, cluster_, *policies_.back().policy, packers_.back(), *machines_,
                         sink, semantics_.get()});
    machines_->report_to(*scheduler_);
  }

  // To the next instant at which something happens; false if nothing is to come.
  bool step() {
    const Time now = std::min({arrival(), semantics_->next_end(), wake_});
    if (now == kNever) return false;
    now_ = now;
    machines_->set_time(now);
    scheduler_->set_time(now);
    std::vector<Semantics::Ended> ended;
    semantics_->advance(now, ended);
    for (const Semantics::Ended& job : ended) {
      machines_->leave(job.job);
      scheduler_->ended(job.job, EventKind::Completed, job.work_left, job.at, job.finished);
    }
    while (arrival() <= now) submit_next();
    if (wake_ <= now) wake_ = kNever;
    return true;
  }
  void hold_round() {
    wake_ = scheduler_->hold_round(now_);
    machines_->settle();
  }

  void take_over(const std::string& policy) {
    hire(policy);
    scheduler_->take_over(*policies_.back().policy, packers_.back(), cluster_);
    machines_->set_trainer(policies_.back().policy->trainer());
    wake_ = now_;
  }
  void set_open(std::size_t node, bool open) { cluster_.nodes[node].open = open; }
  void lose(std::size_t node) {
    cluster_.nodes[node].open = false;
    const std::vector<JobId> there = scheduler_->state().on_nodes()[node];
    for (const JobId job : there) pause(job, {.code = Reason::Code::NodeLost});
  }
  void pause(JobId job, const Reason& reason) {
    machines_->leave(job);
    scheduler_->paused(job, semantics_->drop(job), reason);
    wake_ = now_;
  }
  void hold_back(JobId job) {
    scheduler_->hold_back(job, {.code = Reason::Code::Quota});
    wake_ = now_;
  }
  void let_in(JobId job) {
    scheduler_->let_in(job);
    wake_ = now_;
  }

  Scheduler& scheduler() { return *scheduler_; }
  const Cluster& cluster() const { return cluster_; }
  Time now() const { return now_; }

 private:
  Time arrival() const {
    const std::size_t next = workload_.jobs.size();
    return next < to_come_.jobs.size() ? to_come_.jobs[next].submitted : kNever;
  }

  // A job brings along what it refers to.
  void submit_next() {
    const JobSpec& spec = to_come_.jobs[workload_.jobs.size()];
    const auto bring = [](auto& have, const auto& all, auto id) {
      for (std::size_t i = have.size(); static_cast<int>(i) <= static_cast<int>(id); ++i) {
        have.push_back(all[i]);
      }
    };
    bring(workload_.profiles, to_come_.profiles, spec.profile);
    bring(workload_.curves, to_come_.curves, spec.curve);
    bring(workload_.sensitivities, to_come_.sensitivities, spec.sensitivity);
    scheduler_->submit(workload_.jobs.emplace_back(spec), now_);
  }

  void hire(const std::string& policy) {
    auto made = make_policy(policy, {}, {.workload = workload_});
    INVARIANT(made.ok(), "a test names policies there are");
    policies_.push_back(std::move(made).value());
    packers_.emplace_back(cluster_, workload_.names, std::move(policies_.back().rule));
  }

  const Workload& to_come_;
  Cluster cluster_;
  Workload workload_;
  std::unique_ptr<Semantics> semantics_;
  std::deque<PolicySetup> policies_;  // all that ever decided
  std::deque<Packer> packers_;
  std::unique_ptr<Machines> machines_;
  std::unique_ptr<Scheduler> scheduler_;
  Time now_{};
  Time wake_ = kNever;
};

}  // namespace orrery
