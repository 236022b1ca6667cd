#include "scheduling/policy/deadline/scale_up.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace orrery {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool more(const FlowJob* a, const FlowJob* b) { return a->merit > b->merit; }
// For a heap; among equals in the order of submission.
bool comes_later(const FlowJob* a, const FlowJob* b) {
  return std::pair(a->merit, -static_cast<int>(a->id)) <
         std::pair(b->merit, -static_cast<int>(b->id));
}

}  // namespace

const std::vector<ScaleUp::Gift>& ScaleUp::run(SlotPlanner& planner, SlotTimeline& free,
                                               FlowLine& line) {
  planner_ = &planner;
  free_ = &free;
  given_.clear();
  for (FlowJob* job : line) job->next = job->curve.gpus_above(job->gpus);
  if (free.gpus(0) == 0) return given_;
  rule_ == Rule::SavesMost ? run_lazily(line) : run_eagerly(line);
  return given_;
}

// A plan depends on the option alone and not on those given before, so a job that has no rival left
// takes all options at once.
void ScaleUp::run_lazily(FlowLine& line) {
  heap_.clear();
  ++gifts_;
  for (FlowJob* job : line) {
    if (fits(*job)) heap_.push_back(job);
  }
  if (heap_.size() > 1) {
    for (FlowJob* job : heap_) weigh(*job);
  }
  std::make_heap(heap_.begin(), heap_.end(), comes_later);
  while (!heap_.empty() && free_->gpus(0) > 0) {
    std::pop_heap(heap_.begin(), heap_.end(), comes_later);
    FlowJob& job = *heap_.back();
    heap_.pop_back();
    if (!fits(job)) continue;
    if (heap_.empty()) {
      job.next = job.curve.gpus_within(job.gpus + free_->gpus(0));
      give(job);
      return;
    }
    if (job.weighed != gifts_) {
      weigh(job);
      if (comes_later(&job, heap_.front())) {
        push(job);
        continue;
      }
    }
    climb(job);
    ++gifts_;
    job.weighed = gifts_;
    if (fits(job)) push(job);
  }
}

// As many options as the job stays first for. What it holds is its own to begin with, so its merits
// do not change by what it is given.
void ScaleUp::climb(FlowJob& job) {
  const SlotPlanner::Held held{.gpus = &job.planned, .end = job.end};
  const auto seconds_on = [&](int gpus) {
    return planner_->weigh(job.request(gpus), *free_, held);
  };
  const int most = job.gpus + free_->gpus(0);
  std::int64_t now = job.gpus == 0 ? seconds_on(job.next) : job.next_seconds;
  for (int next = job.curve.gpus_above(job.next); next > job.next && next <= most;
       next = job.curve.gpus_above(next)) {
    const std::int64_t then = seconds_on(next);
    job.merit = -static_cast<double>(then - now) / (next - job.next);
    job.next_seconds = then;
    if (comes_later(&job, heap_.front())) break;
    job.next = next;
    now = then;
  }
  give(job);
}

void ScaleUp::push(FlowJob& job) {
  heap_.push_back(&job);
  std::push_heap(heap_.begin(), heap_.end(), comes_later);
}

// The line is left as the last sorting leaves it, which decides the order of placement.
void ScaleUp::run_eagerly(FlowLine& line) {
  for (FlowJob* job : line) weigh(*job);
  sort_stably(line, more);
  while (free_->gpus(0) > 0) {
    const auto first =
        std::ranges::find_if(line, [this](const FlowJob* job) { return fits(*job); });
    const bool found = first != line.end();
    if (found) give(**first);
    for (FlowJob* job : line) {
      if (job->next > job->gpus) weigh(*job);
    }
    sort_stably(line, more);
    if (!found) break;
  }
}

// What a step more changes in the job's GPU time.
void ScaleUp::weigh(FlowJob& job) {
  job.weighed = gifts_;
  job.merit = -kInfinite;
  if (!fits(job)) return;
  job.merit = kInfinite;
  if (job.gpus == 0) return;
  const SlotPlanner::Held held{.gpus = &job.planned, .end = job.end};
  job.next_seconds = planner_->weigh(job.request(job.next), *free_, held);
  const double rate =
      static_cast<double>(job.next_seconds - job.gpu_seconds) / (job.next - job.gpus);
  job.merit = rule_ == Rule::CostsMost ? rate : -rate;
}

void ScaleUp::give(FlowJob& job) {
  const SlotPlanner::Held held{.gpus = &job.planned, .end = job.end};
  planner_->plan(job.request(job.next), *free_, &held);
  planner_->write(next_planned_, next_free_);
  std::swap(*free_, next_free_);
  std::swap(job.planned, next_planned_);
  job.end = planner_->end();
  job.gpu_seconds = planner_->gpu_seconds();
  job.assured = planner_->done();
  job.gpus = job.next;
  job.next = job.curve.gpus_above(job.gpus);
  given_.push_back({&job, job.end});
}

}  // namespace orrery
