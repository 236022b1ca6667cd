#include "scheduling/policy/deadline/deadline.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "scheduling/policy/adopt.h"
#include "scheduling/policy/deadline/elastic_layout.h"
#include "scheduling/policy/deadline/fixed_placements.h"
#include "scheduling/policy/deadline/leftovers.h"
#include "scheduling/policy/deadline/scaling_curves.h"
#include "scheduling/policy/deadline/speed_errors.h"

namespace orrery {
namespace {

constexpr Duration kSoon = std::chrono::seconds(30);
constexpr double kOptimism = 0.7;
constexpr int kRetries = 2;  // times that all jobs are planned again for one that was refused

// The factor of a job that is attempted: most rounds are further apart than they might be.
double optimistic_factor(const ElasticJob& job) {
  return kOptimism * job.now.optimistic + (1 - kOptimism) * job.now.factor;
}

class Deadline final : public Policy {
 public:
  explicit Deadline(const DeadlineOptions& options)
      : options_(options), promises_(options.promises), errors_(options.margin) {
    if (!options.cost) return;
    errors_.expect_rounds(options.slot, options.cost->mean, options.cost->restart);
    promises_.expect_rounds({.going_on = options.cost->going_on, .restart = options.cost->restart});
  }

  bool adopt(const View& view, Packer& packer, JobId job, Grant& grant) override {
    set_up(view, packer);
    const int gpus = gpu_count(grant.devices);
    return curves_->of(view.spec(job), packer).option_of(gpus) > 0 &&
           adopt_elastic(view, job, grant);
  }

  void plan(const View& view, Packer& packer, Plan& plan) override {
    set_up(view, packer);
    now_ = view.now;
    total_ = packer.current().gpus_total();
    if (by_id_.size() < view.jobs.size()) by_id_.resize(view.jobs.size());
    for (const JobId id : view.ended) remove(id);
    std::erase(live_, nullptr);
    enter_all(view, packer);
    for (ElasticJob* job : live_) look(view, *job);
    promised_.clear();
    for (ElasticJob* job : live_) {
      if (job->promise.fixed) job->round.target = job->now.held;
      if (job->promise.given && !job->promise.fixed) promised_.push_back(job);
    }
    promises_.refresh(now_, {total_, packer.current().gpus_per_node_max()}, promised_);
    confirm(plan);
    if (!curves_->regular()) {
      fixed_.begin(view, packer, live_);
      fix_promised();
    }
    admit_arrived(plan);
    retry_waiting(view, plan);
    if (!curves_->regular()) fixed_.end();
    for (const auto& [id, shape] : dropped_) {
      packer.current().release(view.job(id).held.devices, shape);
    }
    dropped_.clear();
    std::erase(live_, nullptr);
    leftovers_.share(now_, total_, live_, promises_);
    layout_.lay_out(view, packer, live_, promises_, plan);
    report_waits(view, packer, plan);
    forecast(plan);
  }

 private:
  void set_up(const View& view, const Packer& packer) {
    if (curves_) return;
    const int gpus = view.cluster->gpus_total();
    curves_.emplace(*options_.workload, *view.cluster, packer.current().gpus_total() == gpus);
  }

  ElasticJob& job(JobId id) { return *by_id_[index(id)]; }

  void remove(JobId id) {
    ElasticJob* gone = by_id_[index(id)].get();
    if (gone == nullptr) return;
    *std::ranges::find(live_, gone) = nullptr;
    by_id_[index(id)].reset();
  }

  void look(const View& view, ElasticJob& job) {
    const Job& state = view.job(job.id);
    job.now.work = view.work_left(job.id);
    job.now.held =
        state.state == JobState::Running ? job.curve->option_of(gpu_count(state.held.devices)) : 0;
    job.now.ready = state.ready;
    errors_.look(view, job);
    if (job.promise.attempt && job.promise.broken)
      job.promise.given = job.promise.attempt = job.promise.broken = false;
    job.now.assured = job.now.factor;
    if (job.promise.attempt) job.now.factor = optimistic_factor(job);
  }

  // A promise of another policy is kept as our own.
  void enter_all(const View& view, Packer& packer) {
    arrived_.clear();
    for (const JobId id : view.arrived) {
      by_id_[index(id)] = std::make_unique<ElasticJob>();
      ElasticJob& job = *by_id_[index(id)];
      job.id = id;
      job.spec = &view.spec(id);
      job.curve = &curves_->of(*job.spec, packer);
      job.start_cost = job.spec->start_cost;
      if (options_.cost) {
        const int gpus = (*job.curve)[job.curve->top()].gpus;
        job.start_cost = std::max(job.start_cost, options_.cost->start(gpus));
      }
      job.deadline = job.spec->deadline.value_or(kNever);
      job.hard = job.deadline != kNever && job.spec->deadline_kind == DeadlineKind::Hard;
      job.promise.given = job.hard && view.job(id).promised.has_value();
      job.has_run = view.job(id).state != JobState::Pending;
      live_.push_back(&job);
      arrived_.push_back(&job);
    }
  }

  // Counting is not enough any more: a job that was promised by counting keeps the place it finds.
  void fix_promised() {
    for (ElasticJob* job : promised_) {
      if (fixed_.admit(*job, promises_.due(*job))) job->promise.plan.segments.clear();
    }
  }

  void admit_arrived(Plan& plan) {
    std::ranges::stable_sort(arrived_, {}, [](const ElasticJob* job) {
      return std::tuple(job->spec->submitted, job->deadline, job->id);
    });
    for (ElasticJob* job : arrived_) {
      if (!job->hard || job->promise.given || refuse_if_too_late(*job, plan)) continue;
      promises_.note(*job);
      if (admit(*job, true, plan)) continue;
      if (!options_.second_chance && !job->has_run) drop(*job, job->promise.refusal, plan);
    }
  }

  bool admit(ElasticJob& job, bool hard, Plan& plan) {
    const bool counting = curves_->regular();
    const Time due = promises_.due(job) - promises_.spare(job);
    job.promise.given = counting ? promises_.admit(job, hard) : fixed_.admit(job, due);
    if (job.promise.given) {
      plan.admit(job.id, job.promise.plan.done);
    } else {
      job.promise.refusal = counting ? promises_.refusal(job) : fixed_.refusal(job, due);
      if (counting && options_.cost) attempt(job, hard);
    }
    return job.promise.given;
  }

  // What rounds may cost is much more than they mostly do. A job that cannot be promised for that
  // alone is given a plan that holds if they cost less.
  void attempt(ElasticJob& job, bool hard) {
    const double factor = std::exchange(job.now.factor, optimistic_factor(job));
    job.promise.attempt = true;
    job.promise.given = job.promise.attempt = promises_.admit(job, hard);
    if (!job.promise.attempt) job.now.factor = factor;
  }

  // A job that was attempted is promised as soon as that is safe.
  void confirm(Plan& plan) {
    for (ElasticJob* job : promised_) {
      if (!job->promise.attempt || job->promise.broken || !promises_.confirm(*job)) continue;
      plan.admit(job->id, job->promise.plan.done);
    }
  }

  // True, with the reason reported, if even alone it would be late.
  bool refuse_if_too_late(ElasticJob& job, Plan& plan) {
    const Time earliest = job.soonest_alone(now_);
    if (earliest <= job.deadline) return false;
    const bool past = job.deadline <= job.spec->submitted;
    drop(job,
         {.code = past ? Reason::Code::DeadlinePast : Reason::Code::TooLate, .earliest = earliest},
         plan);
    return true;
  }

  void drop(ElasticJob& job, const Reason& reason, Plan& plan) {
    if (job.now.held > 0) {
      plan.stop(job.id, reason);
      dropped_.push_back({job.id, shape_on(*job.spec, (*job.curve)[job.now.held].gpus)});
    }
    plan.reject(job.id, reason);
    const JobId id = job.id;
    *std::ranges::find(live_, &job) = nullptr;
    by_id_[index(id)].reset();
  }

  // Those without a promise are asked again whenever something happened, the cheapest first.
  void retry_waiting(const View& view, Plan& plan) {
    waiting_.clear();
    for (ElasticJob* job : live_) {
      if (job == nullptr || !job->hard || job->promise.given) continue;
      if (std::ranges::find(arrived_, job) == arrived_.end()) waiting_.push_back(job);
    }
    std::ranges::stable_sort(waiting_, {}, [](const ElasticJob* job) {
      return job->now.work / job->curve->hull_edges().front().slope;
    });
    int retries = view.ended.empty() || !promises_.replans_quickly() ? 0 : kRetries;
    for (ElasticJob* job : waiting_) {
      if (refuse_if_too_late(*job, plan)) continue;
      admit(*job, retries-- > 0, plan);
    }
  }

  void report_waits(const View& view, Packer& packer, Plan& plan) {
    for (ElasticJob* job : layout_.without()) {
      if (job->now.held == 0) continue;
      plan.stop(job->id, why(packer, *job));
      job->now.held = 0;
    }
    for (ElasticJob* job : live_) {
      if (job->round.target > 0 && !is_without(*job)) {
        job->reported.reason = Reason::Code::None;
        continue;
      }
      const Reason reason = why(packer, *job);
      if (job->reported.reason == reason.code) continue;
      job->reported.reason = reason.code;
      if (view.job(job->id).state != JobState::Running) plan.wait(job->id, reason);
    }
  }

  // Has devices in its plan, and found none.
  bool is_without(const ElasticJob& job) const {
    return std::ranges::find(layout_.without(), &job) != layout_.without().end();
  }

  Reason why(Packer& packer, const ElasticJob& job) const {
    if (job.promise.given && !job.promise.broken && job.round.target == 0) {
      return {.code = Reason::Code::Later, .from = job.promise.plan.next_change(now_)};
    }
    if (job.hard && !job.promise.given) return job.promise.refusal;
    return packer.why_not(
        packer.current(),
        packer.intern(shape_on(*job.spec, (*job.curve)[std::max(1, job.round.target)].gpus)));
  }

  void forecast(Plan& plan) {
    for (ElasticJob* job : live_) {
      if (job->promise.given && !job->promise.fixed) plan.wake(next_need(*job));
      if (job->promise.given && job->round.planned > 0 && job->round.target == 0)
        plan.wake(now_ + kSoon);
      if (job->promise.attempt) plan.wake(when_sure(*job));
      if (job->hard && !job->promise.given) plan.wake(when_too_late(*job));
      if (job->round.target == 0) continue;
      const bool goes_on = job->round.target == job->now.held;
      const Time ready = goes_on ? std::max(now_, job->now.ready) : now_ + job->start_cost;
      const Duration rest = from_seconds(job->now.work / job->speed(job->round.target));
      const Time end = kNever - ready > rest ? ready + rest : kNever;
      if (goes_on && std::chrono::abs(end - job->reported.end) < kSoon) continue;
      job->reported.end = end;
      plan.expect({.job = job->id, .done = end});
    }
  }

  // The next change of its plan; where rounds cost, only one for which it holds too little.
  Time next_need(const ElasticJob& job) const {
    if (!options_.cost) return job.promise.plan.next_change(now_);
    for (const SharePlan::Segment& segment : job.promise.plan.segments) {
      if (segment.from > now_ && segment.option > job.round.target) return segment.from;
    }
    return kNever;
  }

  // When one that is attempted could be promised if nothing happened until then: it has then gone
  // on for so long without a round that what is left bears the worst.
  Time when_sure(const ElasticJob& job) const {
    if (job.round.target == 0 || job.round.target != job.now.held || job.now.assured >= 1)
      return kNever;
    const double left_s = seconds(promises_.reserve(job)) +
                          job.now.work / job.speed(job.round.target) * job.now.factor;
    const double given_s = seconds(job.deadline - now_);
    if (left_s >= given_s) return kNever;
    const double wait_s = (left_s - given_s * job.now.assured) / (1 - job.now.assured);
    return now_ + std::max(patience(), from_seconds(wait_s));
  }

  // Never nothing, or a job that takes longer than it said would be asked about without end.
  Duration patience() const { return options_.slot > Duration::zero() ? options_.slot : kSoon; }

  Time when_too_late(const ElasticJob& job) const {
    if (options_.cost) return std::max(now_ + patience(), job.deadline);
    if (job.round.target > 0) return std::max(now_ + kSoon, job.deadline);
    const Duration needed = job.soonest_alone(now_) - now_;
    return std::max(now_ + Duration(1), job.deadline - needed + Duration(1));
  }

  const DeadlineOptions options_;
  std::optional<ScalingCurves> curves_;
  Promises promises_;
  FixedPlacements fixed_;
  Leftovers leftovers_;
  ElasticLayout layout_;
  SpeedErrors errors_;
  Time now_{};
  int total_ = 0;
  std::vector<std::unique_ptr<ElasticJob>> by_id_;
  std::vector<ElasticJob*> live_;  // in the order of arrival
  std::vector<ElasticJob*> promised_;
  std::vector<ElasticJob*> arrived_;
  std::vector<ElasticJob*> waiting_;
  std::vector<std::pair<JobId, Shape>> dropped_;  // while they ran
};

}  // namespace

std::unique_ptr<Policy> make_deadline(const DeadlineOptions& options) {
  return std::make_unique<Deadline>(options);
}

}  // namespace orrery
