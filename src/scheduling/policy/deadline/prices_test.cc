#include "scheduling/policy/deadline/prices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

namespace orrery {
namespace {

constexpr int kGpus = 10;

// Notes jobs that take these GPU-times, come so far apart and have ten seconds each.
class Notes {
 public:
  explicit Notes(double nearly_all) : prices_(nearly_all) {}

  void note(double gpu_s, double apart_s) {
    JobSpec& spec = specs_.emplace_back();
    now_s_ += apart_s;
    spec.submitted = time_from_seconds(now_s_);
    ElasticJob job;
    job.spec = &spec;
    job.curve = &curve_;
    job.now.work = gpu_s;
    job.deadline = time_from_seconds(now_s_ + 10);
    prices_.note(job, kGpus);
  }
  const Prices& prices() const { return prices_; }

 private:
  Prices prices_;
  const ScalingCurve curve_ = ScalingCurve::with_hull({{1, 1, 1}});
  std::deque<JobSpec> specs_;
  double now_s_ = 0;
};

TEST(Prices, NoJobIsTooLargeWhereThereIsEnoughForAll) {
  Notes notes(0.9);
  // 130 jobs of 100 GPU-seconds in 129 x 20 + 10 seconds on ten GPUs.
  for (int i = 0; i < 130; ++i) notes.note(100, 20);
  EXPECT_TRUE(std::isinf(notes.prices().largest()));
}

TEST(Prices, WhereThereIsTooLittleTheSmallestJobsAreServed) {
  Notes notes(0.9);
  // 1370 GPU-seconds: enough for the 64 small jobs and for seven of the large ones.
  for (int i = 0; i < 64; ++i) {
    notes.note(10, 1);
    notes.note(100 + i, 1);
  }
  EXPECT_EQ(notes.prices().largest(), 107);
}

TEST(Prices, WithoutALimitOnPricesNoJobIsTooLarge) {
  Notes notes(1);
  for (int i = 0; i < 130; ++i) notes.note(1000, 1);
  EXPECT_TRUE(std::isinf(notes.prices().largest()));
}

}  // namespace
}  // namespace orrery
