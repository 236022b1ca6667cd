#include "scheduling/policy/deadline/promise_costs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

namespace orrery {
namespace {

constexpr int kGpus = 10;

// Notes jobs that take these GPU-times, come this far apart and have ten seconds each.
class Notes {
 public:
  explicit Notes(double nearly_all) : costs_(nearly_all) {}

  void note(double gpu_s, double apart_s) {
    JobSpec& spec = specs_.emplace_back();
    now_s_ += apart_s;
    spec.submitted = time_from_seconds(now_s_);
    ElasticJob job;
    job.spec = &spec;
    job.curve = &curve_;
    job.now.work = gpu_s;
    job.deadline = time_from_seconds(now_s_ + 10);
    costs_.note(job, kGpus);
  }
  const PromiseCosts& costs() const { return costs_; }

 private:
  PromiseCosts costs_;
  const ScalingCurve curve_ = ScalingCurve::with_hull({{1, 1, 1}});
  std::deque<JobSpec> specs_;
  double now_s_ = 0;
};

TEST(PromiseCosts, NoJobIsTooLargeWhereThereIsEnoughForAll) {
  Notes notes(0.9);
  // 130 jobs of 100 GPU-seconds in 129 x 20 + 10 seconds on ten GPUs.
  for (int i = 0; i < 130; ++i) notes.note(100, 20);
  EXPECT_TRUE(std::isinf(notes.costs().largest()));
}

TEST(PromiseCosts, WhereThereIsTooLittleTheSmallestJobsAreServed) {
  Notes notes(0.9);
  // 1370 GPU-seconds: enough for the 64 small jobs and for seven of the large ones.
  for (int i = 0; i < 64; ++i) {
    notes.note(10, 1);
    notes.note(100 + i, 1);
  }
  EXPECT_EQ(notes.costs().largest(), 107);
}

TEST(PromiseCosts, WithoutABudgetNoJobIsTooLarge) {
  Notes notes(1);
  for (int i = 0; i < 130; ++i) notes.note(1000, 1);
  EXPECT_TRUE(std::isinf(notes.costs().largest()));
}

}  // namespace
}  // namespace orrery
