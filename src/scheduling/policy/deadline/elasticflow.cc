#include "scheduling/policy/deadline/elasticflow.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduling/policy/adopt.h"

namespace orrery {

ElasticFlow::ElasticFlow(const ElasticFlowOptions& options, std::unique_ptr<ElasticGrants> grants)
    : options_(options), grants_(std::move(grants)), scale_up_(options.scale_up) {}

bool ElasticFlow::adopt(const View& view, Packer& /*packer*/, JobId job, Grant& grant) {
  return adopt_elastic(view, job, grant);
}

void ElasticFlow::plan(const View& view, Packer& packer, Plan& plan) {
  clock_.set(view.now);
  gpus_total_ = packer.current().gpus_total();
  if (!planner_) planner_.emplace(clock_.now_s(), slot_s(), gpus_total_);
  planner_->set_now(clock_.now_s());
  begin(view);
  jobs_.update(view, clock_);
  planned_ = false;
  admit(view, plan);
  if (!planned_) plan_all(jobs_.line);
  if (jobs_.line.empty()) return;
  planned();
  for (const ScaleUp::Gift& gift : scale_up_.run(*planner_, free_, jobs_.line)) given(gift);
  write(view, packer, plan);
}

std::int64_t ElasticFlow::slot_s() const {
  return std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::seconds>(options_.slot).count());
}

FlowJob* ElasticFlow::enter(const View& view, JobId id) {
  const int most = std::min(options_.most_gpus(*view.workload, view.spec(id)), gpus_total_);
  const bool admits = options_.admission != ElasticFlowOptions::Admission::None;
  return jobs_.enter(view, clock_, id, most, admits);
}

// One job after another, by deadline. Returns true if all will be in time.
bool ElasticFlow::plan_all(FlowLine& line) {
  sort_stably(line, [](const FlowJob* a, const FlowJob* b) { return a->rank() < b->rank(); });
  free_.reset(clock_.now_s(), gpus_total_);
  bool all_in_time = true;
  for (FlowJob* job : line) {
    planner_->plan(job->request(), free_);
    planner_->write(job->planned, next_free_);
    std::swap(free_, next_free_);
    job->end = planner_->end();
    job->gpu_seconds = planner_->gpu_seconds();
    job->assured = planner_->done();
    job->in_time = planner_->done() <= job->deadline;
    job->gpus = job->planned.gpus(0);
    all_in_time = all_in_time && (job->in_time || job->soft);
  }
  return all_in_time;
}

void ElasticFlow::admit(const View& view, Plan& plan) {
  fresh_.clear();
  for (const JobId job : view.arrived) {
    if (!is_in(view.job(job))) continue;
    jobs_.line.push_back(enter(view, job));
    entered(*jobs_.line.back(), view.job(job).state == JobState::Running);
  }
  for (const JobId job : view.arrived) {
    if (is_in(view.job(job))) continue;
    fresh_.push_back(enter(view, job));
    if (options_.admission == ElasticFlowOptions::Admission::OneByOne) admit_fresh(plan);
  }
  admit_fresh(plan);
}

// All or none of the fresh ones; a job without a hard deadline comes in in any case.
void ElasticFlow::admit_fresh(Plan& plan) {
  if (fresh_.empty()) return;
  const bool tests = options_.admission != ElasticFlowOptions::Admission::None;
  const bool fits = !tests || fit();
  if (planned_) jobs_.line = tried_;
  for (FlowJob* job : fresh_) {
    const bool best_effort = job->deadline == kNoDeadline_s || job->soft;
    if (fits || best_effort) {
      if (!planned_) jobs_.line.push_back(job);
      entered(*job, false);
      if (tests && !best_effort) plan.admit(job->id, clock_.instant(job->assured));
    } else {
      plan.reject(job->id, refusal(*job));
      jobs_.forget(job->id);
    }
  }
  fresh_.clear();
}

// True if all jobs are in time with the fresh ones. Where these come one by one, jobs that are late
// without them are no reason to refuse.
bool ElasticFlow::fit() {
  tried_.assign(jobs_.line.begin(), jobs_.line.end());
  tried_.insert(tried_.end(), fresh_.begin(), fresh_.end());
  if (plan_all(tried_)) return planned_ = true;
  planned_ = false;
  if (options_.admission != ElasticFlowOptions::Admission::OneByOne) return false;
  const auto late = [](const FlowJob* job) { return !job->in_time && !job->soft; };
  if (std::ranges::any_of(fresh_, late)) return false;
  const auto with = std::ranges::count_if(tried_, late);
  plan_all(jobs_.line);
  const auto without = std::ranges::count_if(jobs_.line, late);
  plan_all(tried_);
  return planned_ = with == without;
}

Reason ElasticFlow::refusal(const FlowJob& job) const {
  const std::int64_t now_s = clock_.now_s();
  const double alone_s = job.work_left / job.curve.speed_within(job.curve.gpus_max());
  const auto alone = now_s + static_cast<std::int64_t>(std::ceil(alone_s));
  if (job.deadline <= now_s) return {.code = Reason::Code::DeadlinePast};
  if (alone > job.deadline) {
    return {.code = Reason::Code::TooLate, .earliest = clock_.instant(alone)};
  }
  // What the refused plan left free says what is missing: the first step with the fewest GPUs.
  Reason reason{.code = Reason::Code::Promised,
                .wanted = job.curve.gpus_max(),
                .available = gpus_total_,
                .from = clock_.instant(now_s),
                .until = clock_.instant(job.deadline),
                .earliest = clock_.instant(std::max(job.assured, alone))};
  for (std::size_t i = 0; i < free_.size() && free_.from(i) < job.deadline; ++i) {
    if (free_.gpus(i) >= reason.available) continue;
    reason.available = free_.gpus(i);
    reason.from = clock_.instant(free_.from(i));
    reason.until = clock_.instant(std::min(free_.until(i), job.deadline));
  }
  return reason;
}

void ElasticFlow::write(const View& view, Packer& packer, Plan& plan) {
  sort_stably(jobs_.line, [](const FlowJob* a, const FlowJob* b) { return a->gpus > b->gpus; });
  requests_.clear();
  for (FlowJob* job : line_to_place()) {
    requests_.push_back({.job = job->id,
                         .gpus = job->gpus,
                         .begins = clock_.instant(job->planned.first_use()),
                         .is_new = std::exchange(job->is_new, false)});
  }
  grants_->write(view, packer, requests_, plan);
  for (const FlowJob* job : jobs_.line) {
    plan.expect({.job = job->id,
                 .done = clock_.instant(job->end),
                 .assured = clock_.instant(job->assured)});
  }
  wake(plan);
}

// At the next change of a plan, unless a job ends first.
void ElasticFlow::wake(Plan& plan) {
  std::int64_t change = kNoDeadline_s;
  std::int64_t end = kNoDeadline_s;
  for (const FlowJob* job : jobs_.line) {
    change = std::min(change, job->planned.next_step(clock_.now_s()));
    end = std::min(end, job->end);
  }
  if (change < end) plan.wake(clock_.instant(change));
}

std::unique_ptr<Policy> make_elasticflow(const ElasticFlowOptions& options,
                                         std::unique_ptr<ElasticGrants> grants) {
  return std::make_unique<ElasticFlow>(options, std::move(grants));
}

}  // namespace orrery
