#include "simulation/testing/live_run.h"

#include <algorithm>

#include "base/invariant.h"
#include "simulation/worlds/world.h"

namespace orrery {

void LiveRun::Log::write(const Event& event) {
  events_.push_back(event);
  if (event.grant != nullptr) events_.back().grant = &grants_.emplace_back(*event.grant);
  next_.write(event);
}

LiveRun::LiveRun(const Workload& to_come, const Cluster& cluster, const std::string& policy,
                 EventSink& sink)
    : to_come_(to_come), cluster_(cluster), log_(sink), semantics_(make_orrery_semantics(0)) {
  workload_.names = to_come.names;
  hire(policy);
  machines_ = std::make_unique<Machines>(workload_, *semantics_, ContentionModel{},
                                         policies_.back().policy->trainer());
  start_scheduler();
}

void LiveRun::start_scheduler() {
  scheduler_ = std::make_unique<Scheduler>(
      Scheduler::Parts{workload_, cluster_, *policies_.back().policy, packers_.back(), *machines_,
                       log_, semantics_.get()});
  machines_->report_to(*scheduler_);
}

bool LiveRun::step() {
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

void LiveRun::hold_round() {
  wake_ = scheduler_->hold_round(now_);
  machines_->settle();
}

void LiveRun::take_over(const std::string& policy) {
  hire(policy);
  scheduler_->take_over(*policies_.back().policy, packers_.back(), cluster_);
  machines_->set_trainer(policies_.back().policy->trainer());
  wake_ = now_;
}

void LiveRun::restart(const std::string& policy) {
  std::vector<JobId> held_back;
  for (const Job& job : scheduler_->state().jobs()) {
    const bool is_held = !is_final(job.state) && scheduler_->is_on_hold(job.spec->id);
    if (is_held) held_back.push_back(job.spec->id);
  }
  start_scheduler();
  for (const Event& event : log_.events()) scheduler_->recover(event);
  scheduler_->set_time(now_);
  take_over(policy);
  for (const JobId job : held_back) hold(job);
}

void LiveRun::lose(std::size_t node) {
  cluster_.nodes[node].open = false;
  const std::vector<JobId> there = scheduler_->state().on_nodes()[node];
  for (const JobId job : there) pause(job, {.code = Reason::Code::NodeLost});
}

void LiveRun::pause(JobId job, const Reason& reason) {
  machines_->leave(job);
  scheduler_->paused(job, semantics_->drop(job), reason);
  wake_ = now_;
}

void LiveRun::hold(JobId job) {
  scheduler_->hold(job, {.code = Reason::Code::Quota});
  wake_ = now_;
}

void LiveRun::release(JobId job) {
  scheduler_->release(job);
  wake_ = now_;
}

bool LiveRun::fits_nowhere(JobId job) {
  return packers_.back().not_here(scheduler_->state().job(job).shape).has_value();
}

std::map<std::string, std::string> LiveRun::options_in(const std::string& policy) {
  const std::size_t name = policy.find(' ');
  const std::size_t value = policy.find('=');
  if (name == std::string::npos || value == std::string::npos) return {};
  return {{policy.substr(name + 1, value - name - 1), policy.substr(value + 1)}};
}

Time LiveRun::arrival() const {
  const std::size_t next = workload_.jobs.size();
  return next < to_come_.jobs.size() ? to_come_.jobs[next].submitted : kNever;
}

// A job brings along what it refers to.
void LiveRun::submit_next() {
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

void LiveRun::hire(const std::string& policy) {
  PolicyContext context{
      .workload = workload_,
      .policy = {.name = policy.substr(0, policy.find(' ')), .options = options_in(policy)}};
  const std::size_t at = policy.find('@');
  if (at != std::string::npos) {
    const auto kind = parse_semantics(policy.substr(at + 1));
    INVARIANT(kind.ok(), "a test names worlds there are");
    const World& world = worlds()[static_cast<std::size_t>(kind.value())];
    context.published = world.published;
    if (world.cost != nullptr) context.cost = world.cost(cluster_, std::chrono::minutes(1));
  }
  auto made = make_policy(context);
  INVARIANT(made.ok(), "a test names policies there are");
  policies_.push_back(std::move(made).value());
  packers_.emplace_back(cluster_, workload_.names, std::move(policies_.back().rule));
}

}  // namespace orrery
