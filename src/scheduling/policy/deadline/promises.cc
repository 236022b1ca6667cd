#include "scheduling/policy/deadline/promises.h"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(1);
// How often all jobs are planned again before one is refused, and how much of it: steps of the
// free GPUs looked at, a nanosecond or two each.
constexpr int kTries = 12;
constexpr std::size_t kEffort = 4'000'000;

}  // namespace

Time Promises::due(const ElasticJob& job) const {
  return job.deadline - (job.promise.attempt ? Duration::zero() : options_.spare) - kTick;
}

Duration Promises::spare(const ElasticJob& job) const {
  if (job.promise.attempt) return Duration::zero();
  return options_.spare_starts * job.start_cost + cost_.restart;
}

Duration Promises::start_cost(const ElasticJob& job) const {
  return job.promise.attempt ? job.start_cost : job.start_cost + cost_.restart;
}

ShareRequest Promises::ask(const ElasticJob& job, Time by, Duration spare) const {
  ShareRequest request = job.request(now_, by, spare);
  if (job.promise.attempt) return request;
  request.late = options_.late;
  if (cost_.going_on == Duration::zero()) return request;
  request.ready = std::max(request.ready, now_) + cost_.going_on + job.start_cost;
  request.start_cost += cost_.restart + cost_.going_on;
  return request;
}

void Promises::take(const ElasticJob& job, const SharePlan& plan) {
  for (std::size_t i = 0; i < plan.segments.size(); ++i) {
    free_.take(plan.segments[i].from, let_go(plan, i), job.capacity(plan.segments[i].option));
  }
}

void Promises::give(const ElasticJob& job, const SharePlan& plan) {
  for (std::size_t i = 0; i < plan.segments.size(); ++i) {
    free_.give(plan.segments[i].from, let_go(plan, i), job.capacity(plan.segments[i].option));
  }
}

void Promises::rebuild() {
  taken_.clear();
  for (const ElasticJob* job : jobs_) {
    for (std::size_t i = 0; i < job->promise.plan.segments.size(); ++i) {
      const auto& segment = job->promise.plan.segments[i];
      if (segment.option == 0) continue;
      taken_.push_back({segment.from, let_go(job->promise.plan, i), job->capacity(segment.option)});
    }
  }
  free_.build(now_, total_, taken_);
}

void Promises::refresh(Time now, const Capacity& capacity, std::span<ElasticJob* const> promised) {
  now_ = now;
  total_ = capacity.gpus;
  node_gpus_ = std::max(1, capacity.node_gpus);
  jobs_.assign(promised.begin(), promised.end());
  late_.clear();
  for (ElasticJob* job : jobs_) {
    if (planner_.carry_on(ask(*job, job->deadline, spare(*job)), job->promise.plan)) continue;
    job->promise.plan.segments.clear();
    late_.push_back(job);
  }
  rebuild();
  std::ranges::sort(late_, {},
                    [](const ElasticJob* job) { return std::pair(job->deadline, job->id); });
  for (ElasticJob* job : late_) {
    if (job->promise.plan.empty()) plan_late(*job);
  }
  // A job that has moved gets its spare time back if there is any.
  for (ElasticJob* job : jobs_) {
    if (is_tight(*job) && !job->promise.broken) disturbed(*job);
  }
}

// Beside the others, then together with them, and if that fails as soon as can be.
void Promises::plan_late(ElasticJob& job) {
  if (plan_alone(job, job.promise.plan)) {
    take(job, job.promise.plan);
    return;
  }
  job.promise.plan.segments.clear();
  if (options_.replan && job.soonest_alone(now_) <= job.deadline && plan_all(nullptr)) return;
  job.promise.broken = true;
  if (planner_.soonest(free_, ask(job, kNever, {}), job.promise.plan)) take(job, job.promise.plan);
}

bool Promises::disturbed(ElasticJob& job) {
  give(job, job.promise.plan);
  const bool ok = plan_alone(job, plan_);
  if (ok) std::swap(job.promise.plan, plan_);
  take(job, job.promise.plan);
  return ok;
}

// A tight job goes without spare time, and is then not moved. That is promised only where it holds
// whole nodes, since then no job needs its place.
bool Promises::plan_alone(ElasticJob& job, SharePlan& plan) {
  if (planner_.cheapest(free_, ask(job, due(job), spare(job)), plan)) return true;
  const Time by = job.promise.given ? job.deadline : due(job);
  if (!planner_.cheapest(free_, ask(job, by, {}), plan)) return false;
  return job.promise.given || job.promise.attempt || job.start_cost == Duration::zero() ||
         std::ranges::all_of(plan.segments, [&](const SharePlan::Segment& segment) {
           return job.capacity(segment.option) % node_gpus_ == 0;
         });
}

bool Promises::replans_quickly() const { return jobs_.size() * free_.size() < kEffort; }

bool Promises::admit(ElasticJob& job, bool hard) {
  over_budget_ = 0;
  job.promise.plan.segments.clear();
  const bool alone = plan_alone(job, job.promise.plan);
  if (alone) {
    jobs_.push_back(&job);
  } else {
    job.promise.plan.segments.clear();
    if (!hard || !options_.replan || !plan_all(&job)) return false;
    give(job, job.promise.plan);
  }
  if (within_budget(job, alone ? 0 : taken_from_others())) {
    take(job, job.promise.plan);
    return true;
  }
  job.promise.plan.segments.clear();
  jobs_.pop_back();
  if (!alone) undo_plan_all();
  return false;
}

// The GPU-time that the others need more than before the new job was planned among them. Their
// former plans are their drafts.
double Promises::taken_from_others() const {
  double more_s = 0;
  for (std::size_t i = 0; i + 1 < jobs_.size(); ++i) {
    more_s += gpu_s(*jobs_[i], jobs_[i]->promise.plan) - gpu_s(*jobs_[i], jobs_[i]->promise.draft);
  }
  return std::max(0.0, more_s);
}

double Promises::gpu_s(const ElasticJob& job, const SharePlan& plan) const {
  double sum = 0;
  for (std::size_t i = 0; i < plan.segments.size(); ++i) {
    const Duration length = let_go(plan, i) - std::max(now_, plan.segments[i].from);
    sum += job.capacity(plan.segments[i].option) * seconds(length);
  }
  return sum;
}

void Promises::undo_plan_all() {
  for (ElasticJob* job : jobs_) std::swap(job->promise.plan, job->promise.draft);
  std::swap(free_, draft_);
}

bool Promises::confirm(ElasticJob& job) {
  give(job, job.promise.plan);
  const double optimistic_factor = std::exchange(job.now.factor, job.now.assured);
  job.promise.given = job.promise.attempt = false;
  const bool ok = plan_alone(job, plan_);
  if (ok) {
    std::swap(job.promise.plan, plan_);
  } else {
    job.now.factor = optimistic_factor;
    job.promise.attempt = true;
  }
  job.promise.given = true;
  take(job, job.promise.plan);
  return ok;
}

bool Promises::within_budget(const ElasticJob& job, double taken_from_others_s) {
  const double cost = costs_.cost(job, job.promise.plan, free_, total_) + taken_from_others_s;
  const double gpu_time_s = gpu_s(job, job.promise.plan) + taken_from_others_s;
  if (cost <= costs_.budget() && gpu_time_s <= costs_.largest()) return true;
  const bool by_cost = cost > costs_.budget();
  over_budget_ = by_cost ? cost : gpu_time_s;
  limit_ = by_cost ? costs_.budget() : costs_.largest();
  return false;
}

// A job that does not fit goes to the head of the line, and the line is planned again.
bool Promises::plan_all(ElasticJob* one_more) {
  order_ = jobs_;
  if (one_more != nullptr) order_.push_back(one_more);
  std::ranges::sort(order_, {},
                    [](const ElasticJob* job) { return std::pair(job->deadline, job->id); });
  const std::size_t effort = order_.size() * free_.size();
  for (int round = 0;
       round < kTries && (round == 0 || effort * static_cast<std::size_t>(round) < kEffort);
       ++round) {
    std::size_t failed = 0;
    if (!plan_in_order(failed)) {
      const auto place = order_.begin() + static_cast<std::ptrdiff_t>(failed);
      std::rotate(order_.begin(), place, place + 1);
      continue;
    }
    if (one_more != nullptr) jobs_.push_back(one_more);
    for (ElasticJob* job : jobs_) std::swap(job->promise.plan, job->promise.draft);
    std::swap(free_, draft_);
    return true;
  }
  return false;
}

bool Promises::plan_in_order(std::size_t& failed) {
  draft_.reset(now_, total_);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    ElasticJob& job = *order_[i];
    std::swap(free_, draft_);
    // One that is late already must not stand in the way of others.
    const bool ok =
        plan_alone(job, job.promise.draft) ||
        (job.promise.broken && planner_.soonest(free_, ask(job, kNever, {}), job.promise.draft));
    if (ok) take(job, job.promise.draft);
    std::swap(free_, draft_);
    if (!ok) {
      failed = i;
      return false;
    }
  }
  return true;
}

Reason Promises::refusal(const ElasticJob& job) {
  if (over_budget_ > 0) {
    return {.code = Reason::Code::OverBudget,
            .wanted = static_cast<std::int64_t>(over_budget_),
            .available = static_cast<std::int64_t>(limit_)};
  }
  Reason reason{.code = Reason::Code::Promised};
  const int wanted = job.capacity(job.curve->top());
  reason.wanted = wanted;
  reason.earliest = kNever;
  // The first stretch in which it cannot have all it could use, and the least that is left there.
  std::size_t i = free_.step_at(now_);
  while (i + 1 < free_.size() && free_.gpus(i) >= wanted && free_.until(i) < job.deadline) ++i;
  reason.from = std::max(now_, free_.from(i));
  reason.available = free_.gpus(i);
  for (; i < free_.size() && free_.from(i) < job.deadline && free_.gpus(i) < wanted; ++i) {
    reason.until = std::min(free_.until(i), job.deadline);
    reason.available = std::min<std::int64_t>(reason.available, free_.gpus(i));
  }
  if (planner_.soonest(free_, ask(job, kNever, spare(job)), plan_)) {
    reason.earliest = plan_.end + (job.deadline - due(job));
  }
  return reason;
}

bool Promises::detour(ElasticJob& job, int option, bool commit) {
  const bool planned = option == job.round.planned || option == job.now.held;
  const double start_s = seconds(job.start_cost);
  // Where the plan counts on nothing now, anything is more.
  if (!job.promise.given || job.promise.fixed || planned || job.round.planned == 0 || start_s == 0)
    return true;
  const double fast = job.speed(option);
  const double slow = job.speed(job.round.planned);
  const Time until = round_from(now_ + from_seconds(1.5 * start_s * (fast + slow) / (fast - slow)),
                                options_.apart);
  give(job, job.promise.plan);
  ShareRequest request = ask(job, due(job), spare(job));
  request.forced = option;
  request.forced_until = until;
  const bool ok =
      free_.least(now_, until) >= job.capacity(option) && planner_.cheapest(free_, request, plan_);
  if (ok && commit) std::swap(job.promise.plan, plan_);
  take(job, job.promise.plan);
  return ok;
}

}  // namespace orrery
