#include "scheduling/policy/deadline/promises.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "base/random.h"
#include "scheduling/policy/deadline/leftovers.h"

namespace orrery {
namespace {

Time at(double s) { return time_from_seconds(s); }

// Jobs on concave curves over powers of two, made to order.
class Jobs {
 public:
  explicit Jobs(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 5; ++i) {
      std::vector<GpuOption> options;
      double speed = 0;
      double gain = 1;
      for (int gpus = 1, last = 0; gpus <= 16; last = gpus, gpus *= 2) {
        speed += gain * (gpus - last);
        gain *= 0.4 + 0.6 * random_.uniform();
        options.push_back({gpus, gpus, speed});
      }
      curves_.push_back(ScalingCurve::with_hull(std::move(options)));
    }
  }

  ElasticJob& add(Time now, double start_s) {
    JobSpec& spec = specs_.emplace_back();
    spec.start_cost = from_seconds(start_s);
    ElasticJob& job = jobs_.emplace_back();
    job.id = static_cast<JobId>(jobs_.size() - 1);
    job.spec = &spec;
    job.start_cost = job.spec->start_cost;
    job.curve = &curves_[static_cast<std::size_t>(random_.between(0, 4))];
    job.now.work = 20 + 400 * random_.uniform();
    job.deadline = now + from_seconds(job.now.work * (0.3 + 2 * random_.uniform()) + 3 * start_s);
    job.hard = true;
    return job;
  }
  Random& random() { return random_; }

 private:
  Random random_;
  std::deque<ScalingCurve> curves_;
  std::deque<JobSpec> specs_;
  std::deque<ElasticJob> jobs_;
};

// At every instant at which anything changes, all plans together fit.
void expect_fits(std::span<ElasticJob* const> promised, int total) {
  for (const ElasticJob* one : promised) {
    for (const auto& segment : one->promise.plan.segments) {
      int taken = 0;
      for (const ElasticJob* job : promised)
        taken += job->capacity(job->promise.plan.option_at(segment.from));
      ASSERT_LE(taken, total);
    }
    ASSERT_LE(one->promise.plan.done, one->deadline);
    ASSERT_LE(one->promise.plan.done, one->promise.plan.end);
    SharePlan copy = one->promise.plan;
    ASSERT_EQ(walk(one->request(one->promise.plan.segments[0].from, one->deadline, {}),
                   one->promise.plan.end, false, copy),
              0)
        << "the plan does not do the work";
  }
}

TEST(Promises, FitTogetherAndEndInTimeWhateverArrives) {
  int admitted = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Jobs jobs(seed);
    const int total = static_cast<int>(jobs.random().between(4, 32));
    const double start_s = seed % 3 == 0 ? 0 : 4 * jobs.random().uniform();
    Promises promises({.budget = seed % 2 == 0 ? 0.9 : 1});
    std::vector<ElasticJob*> promised;
    promises.refresh(at(0), {total, 4}, promised);
    for (int i = 0; i < 40; ++i) {
      ElasticJob& job = jobs.add(at(0), start_s);
      promises.note(job);
      if (promises.admit(job, true)) {
        job.promise.given = true;
        promised.push_back(&job);
        ++admitted;
      } else {
        const Reason reason = promises.refusal(job);
        ASSERT_TRUE(reason.code == Reason::Code::Promised ||
                    reason.code == Reason::Code::OverBudget);
        if (reason.code == Reason::Code::Promised) {
          ASSERT_LT(reason.available, reason.wanted) << "seed " << seed;
          ASSERT_LT(reason.from, reason.until) << "seed " << seed;
          ASSERT_LE(reason.until, job.deadline) << "seed " << seed;
        }
        ++refused;
      }
      ASSERT_NO_FATAL_FAILURE(expect_fits(promised, total)) << "seed " << seed << " job " << i;
    }
  }
  EXPECT_GT(admitted, 1000);
  EXPECT_GT(refused, 1000);
}

// All were planned again for a job that was then over budget.
TEST(Promises, ARefusedJobLeavesTheOtherPlansAsTheyWere) {
  int over_budget = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Jobs jobs(seed);
    Promises promises({.budget = 0.5});
    std::vector<ElasticJob*> promised;
    promises.refresh(at(0), {16, 4}, promised);
    for (int i = 0; i < 40; ++i) {
      ElasticJob& job = jobs.add(at(0), 1);
      promises.note(job);
      std::vector<SharePlan> before;
      for (const ElasticJob* one : promised) before.push_back(one->promise.plan);
      if (promises.admit(job, true)) {
        job.promise.given = true;
        promised.push_back(&job);
        continue;
      }
      over_budget += promises.refusal(job).code == Reason::Code::OverBudget;
      for (std::size_t k = 0; k < promised.size(); ++k) {
        const auto& now = promised[k]->promise.plan.segments;
        ASSERT_EQ(now.size(), before[k].segments.size()) << "seed " << seed << " job " << i;
        for (std::size_t s = 0; s < now.size(); ++s) {
          ASSERT_EQ(now[s].from, before[k].segments[s].from);
          ASSERT_EQ(now[s].option, before[k].segments[s].option);
        }
      }
    }
  }
  EXPECT_GT(over_budget, 100);
}

double gpu_s(const ElasticJob& job) {
  double sum = 0;
  const SharePlan& plan = job.promise.plan;
  for (std::size_t i = 0; i < plan.segments.size(); ++i) {
    const Duration length = plan.until(i) - plan.segments[i].from;
    sum += job.capacity(plan.segments[i].option) * seconds(length);
  }
  return sum;
}

// A new job may be planned among the others only if they need little more for it: the cost of a
// promise is what it takes from them, too.
TEST(Promises, TakeNoMoreFromTheOthersThanTheBudget) {
  int planned_again = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Jobs jobs(seed);
    Promises promises({.budget = 0.5});
    std::vector<ElasticJob*> promised;
    std::vector<double> noted;
    promises.refresh(at(0), {16, 4}, promised);
    for (int i = 0; i < 40; ++i) {
      ElasticJob& job = jobs.add(at(0), 1);
      promises.note(job);
      const double alone_s =
          job.now.work / (job.curve->hull_edges().front().slope * job.now.factor);
      noted.insert(std::ranges::upper_bound(noted, alone_s), alone_s);
      double before_s = 0;
      for (const ElasticJob* one : promised) before_s += gpu_s(*one);
      if (!promises.admit(job, true)) continue;
      double after_s = 0;
      for (const ElasticJob* one : promised) after_s += gpu_s(*one);
      job.promise.given = true;
      promised.push_back(&job);
      planned_again += after_s > before_s;
      if (noted.size() < 10) continue;  // too few to judge by
      ASSERT_LE(after_s - before_s, noted[noted.size() / 2]) << "seed " << seed << " job " << i;
    }
  }
  EXPECT_GT(planned_again, 100);
}

// The deadline that is offered instead can indeed be promised.
TEST(Promises, OfferADeadlineThatWouldDo) {
  int offered = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Jobs jobs(seed);
    Promises promises({.replan = false, .budget = 1});
    promises.refresh(at(0), {16, 4}, {});
    for (int i = 0; i < 30; ++i) {
      ElasticJob& job = jobs.add(at(0), 2);
      if (promises.admit(job, true)) {
        job.promise.given = true;
        continue;
      }
      const Reason reason = promises.refusal(job);
      if (reason.earliest == kNever) continue;
      ASSERT_GT(reason.earliest, job.deadline) << "seed " << seed;
      job.deadline = reason.earliest;
      ASSERT_TRUE(promises.admit(job, true)) << "seed " << seed << " job " << i;
      job.promise.given = true;
      ++offered;
    }
  }
  EXPECT_GT(offered, 300);
}

TEST(Promises, AreNoFewerOnALargerCluster) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    int smaller = 0;
    for (const int total : {8, 16, 32, 64}) {
      Jobs jobs(seed);
      Promises promises({.budget = 1});
      promises.refresh(at(0), {total, 4}, {});
      int admitted = 0;
      for (int i = 0; i < 30; ++i) {
        ElasticJob& job = jobs.add(at(0), 0);
        job.promise.given = promises.admit(job, true);
        admitted += job.promise.given;
      }
      ASSERT_GE(admitted, smaller) << "seed " << seed << " on " << total;
      smaller = admitted;
    }
  }
}

TEST(Leftovers, GiveEachWaitingJobOneGpuBeforeAnyJobTwo) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Jobs jobs(seed);
    const int total = static_cast<int>(jobs.random().between(2, 20));
    Promises promises({});
    promises.refresh(at(0), {total, 4}, {});
    std::vector<ElasticJob*> all;
    for (int i = 0; i < 10; ++i) {
      all.push_back(&jobs.add(at(0), 3));
      all.back()->deadline = kNever;
      all.back()->hard = false;
    }
    Leftovers leftovers;
    leftovers.share(at(0), total, all, promises);
    int given = 0;
    int without = 0;
    int most = 0;
    for (const ElasticJob* job : all) {
      given += job->capacity(job->round.target);
      without += job->round.target == 0;
      most = std::max(most, job->round.target);
    }
    ASSERT_LE(given, total);
    ASSERT_TRUE(without == 0 || most == 1) << "seed " << seed;
    ASSERT_EQ(without, std::max(0, 10 - total)) << "seed " << seed;
  }
}

TEST(Leftovers, NeverTakeWhatPlansCountOn) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Jobs jobs(seed);
    const int total = 16;
    Promises promises({.budget = 1});
    std::vector<ElasticJob*> promised;
    std::vector<ElasticJob*> all;
    promises.refresh(at(0), {total, 4}, promised);
    for (int i = 0; i < 12; ++i) {
      ElasticJob& job = jobs.add(at(0), 3);
      all.push_back(&job);
      job.promise.given = promises.admit(job, true);
      if (job.promise.given) promised.push_back(&job);
    }
    Leftovers leftovers;
    leftovers.share(at(0), total, all, promises);
    int given = 0;
    for (const ElasticJob* job : all) {
      given += job->capacity(job->round.target);
      ASSERT_GE(job->round.target, job->promise.given ? job->promise.plan.option_at(at(0)) : 0)
          << "seed " << seed;
    }
    ASSERT_LE(given, total) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(expect_fits(promised, total)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace orrery
