#pragma once

#include <span>
#include <vector>

#include "scheduling/policy/deadline/promise_costs.h"

namespace orrery {

struct PromiseOptions {
  int spare_starts = 2;  // start-ups kept in reserve before each deadline
  Duration spare{};      // and time besides
  Duration apart{};      // rounds are held only at multiples of this; 0: whenever it is asked for
  Duration late{};       // a rise that is planned for later may come this much later still
  bool replan = true;    // before refusing, plan all jobs again within their promises
  // A full cluster promises no job more GPU-time than this part of all jobs take at most, and one
  // that is less full more; 1: any.
  double budget = 0.92;
};

// The plans of all jobs that were promised to be done by their deadlines, and what they leave free.
//
// A plan holds from the state its job is in: what it holds now goes on for nothing, any change is
// charged. Every plan in the book ends by its job's deadline and all of them fit the cluster at
// every future instant; admit() only ever adds a job if that stays so.
class Promises {
 public:
  explicit Promises(const PromiseOptions& options)
      : options_(options), costs_(options.budget), planner_(options.apart) {}

  // Where rounds cost: what the present one takes from jobs that go on, besides a start-up that may
  // be due, and by how much a start-up may cost more than it mostly does.
  struct RoundCost {
    Duration going_on{};
    Duration restart{};
  };
  void expect_rounds(const RoundCost& cost) { cost_ = cost; }

  // Holds all plans against what became of their jobs. Plans that no longer reach their deadlines
  // are made again: beside the others, then together with them, and if that fails as soon as can
  // be.
  struct Capacity {
    int gpus = 0;       // of the cluster
    int node_gpus = 1;  // of a node
  };
  void refresh(Time now, const Capacity& capacity, std::span<ElasticJob* const> promised);

  // A job with a deadline has arrived, by which others are measured.
  void note(const ElasticJob& job) { costs_.note(job, total_); }
  // True if planning all jobs again is cheap enough to be tried now and then.
  bool replans_quickly() const;
  // Promises the job if it can be, beside all others; then it has a plan. Tries harder if `hard`.
  bool admit(ElasticJob& job, bool hard);
  // Promises a job that was attempted, if it now has a plan with the assured factor.
  bool confirm(ElasticJob& job);
  // Why admit() just said no, and the deadline that could be promised.
  Reason refusal(const ElasticJob& job);

  // True if a promised job may run on another option than planned, for as long as it takes to earn
  // the start-ups there and back, so that its promise and all others hold whatever comes after.
  bool allows(ElasticJob& job, int option) { return detour(job, option, false); }
  // The same; its plan then begins so.
  bool detour(ElasticJob& job, int option) { return detour(job, option, true); }
  // Plans a promised job again, beside the others, after it had to move or found no place. If that
  // fails its plan is no longer good, and the next refresh() has to see to it.
  bool disturbed(ElasticJob& job);

  const Timeline& free() const { return free_; }
  Time due(const ElasticJob& job) const;        // the deadline less what is kept in reserve
  Duration spare(const ElasticJob& job) const;  // kept at the end of its plan, for moves
  // What a promise to one that goes on as it is asks for besides its work.
  Duration reserve(const ElasticJob& job) const {
    return cost_.going_on + (1 + options_.spare_starts) * job.start_cost + cost_.restart;
  }
  // True if it has too little time in hand to be moved.
  bool is_tight(const ElasticJob& job) const {
    return job.promise.plan.done + start_cost(job) > job.promise.plan.end;
  }
  Duration start_cost(const ElasticJob& job) const;  // at most

 private:
  bool detour(ElasticJob& job, int option, bool commit);
  // What a job lets go is given to others in the next round.
  Time let_go(const SharePlan& plan, std::size_t segment) const {
    return round_from(plan.until(segment), options_.apart);
  }
  ShareRequest ask(const ElasticJob& job, Time by, Duration spare) const;
  void plan_late(ElasticJob& job);
  void take(const ElasticJob& job, const SharePlan& plan);
  void give(const ElasticJob& job, const SharePlan& plan);
  void rebuild();
  bool within_budget(const ElasticJob& job, double taken_from_others_s);
  double taken_from_others() const;
  double gpu_s(const ElasticJob& job, const SharePlan& plan) const;
  void undo_plan_all();
  bool plan_all(ElasticJob* one_more);
  bool plan_in_order(std::size_t& failed);
  bool plan_alone(ElasticJob& job, SharePlan& plan);

  const PromiseOptions options_;
  PromiseCosts costs_;
  RoundCost cost_;
  Time now_{};
  int total_ = 0;
  int node_gpus_ = 1;
  double over_budget_ = 0;  // the cost of the job that was just refused, if that was the reason
  double limit_ = 0;        // what it might have cost
  Timeline free_;
  Timeline draft_;
  SharePlanner planner_;
  std::vector<ElasticJob*> jobs_;
  std::vector<ElasticJob*> order_;
  std::vector<ElasticJob*> late_;
  std::vector<Timeline::Taken> taken_;
  SharePlan plan_;
};

}  // namespace orrery
