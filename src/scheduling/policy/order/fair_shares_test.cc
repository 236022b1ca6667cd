#include "scheduling/policy/order/fair_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace orrery {
namespace {

double ratio(const FairJob& job, double share) {
  return (job.elapsed_s + job.remaining_s / share) / job.isolated;
}

double worst(const std::vector<FairJob>& jobs, const std::vector<double>& shares) {
  double worst = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) worst = std::max(worst, ratio(jobs[i], shares[i]));
  return worst;
}

double used(const std::vector<FairJob>& jobs, const std::vector<double>& shares) {
  double sum = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) sum += jobs[i].gpus * shares[i];
  return sum;
}

std::vector<FairJob> random_jobs(Random& random, int count) {
  std::vector<FairJob> jobs;
  for (int i = 0; i < count; ++i) {
    jobs.push_back({.gpus = static_cast<double>(random.between(1, 8)),
                    .elapsed_s = 1000 * random.uniform(),
                    .remaining_s = 1 + 1000 * random.uniform(),
                    .isolated = 10 + 1000 * random.uniform()});
  }
  return jobs;
}

TEST(FairShares, EqualJobsShareEqually) {
  const FairJob job{.gpus = 4, .elapsed_s = 0, .remaining_s = 100, .isolated = 100};
  std::vector<double> shares;
  fair_shares(std::vector<FairJob>{job, job}, 4, Leftover::InProportion, shares);
  EXPECT_NEAR(shares[0], 0.5, 1e-12);
  EXPECT_NEAR(shares[1], 0.5, 1e-12);
}

TEST(FairShares, AJobThatWaitedLongerGetsMore) {
  std::vector<FairJob> jobs(2, {.gpus = 4, .elapsed_s = 0, .remaining_s = 100, .isolated = 100});
  jobs[1].elapsed_s = 50;
  std::vector<double> shares;
  fair_shares(jobs, 4, Leftover::InProportion, shares);
  EXPECT_GT(shares[1], shares[0]);
}

TEST(FairShares, WhereAllFitAllRunAllTheTime) {
  Random random(1);
  const auto jobs = random_jobs(random, 5);
  std::vector<double> shares;
  fair_shares(jobs, 40, Leftover::InProportion, shares);
  for (const double share : shares) EXPECT_DOUBLE_EQ(share, 1);
}

TEST(FairShares, NoPointOfAGridIsFairer) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const auto jobs = random_jobs(random, 3);
    const double gpus = static_cast<double>(random.between(1, 12));
    std::vector<double> shares;
    fair_shares(jobs, gpus, Leftover::InProportion, shares);
    const double ours = worst(jobs, shares);
    constexpr int kSteps = 60;
    for (int a = 1; a <= kSteps; ++a) {
      for (int b = 1; b <= kSteps; ++b) {
        const double share_a = double(a) / kSteps;
        const double share_b = double(b) / kSteps;
        const double left = gpus - jobs[0].gpus * share_a - jobs[1].gpus * share_b;
        if (left <= 0) continue;
        const double share_c = std::min(1.0, left / jobs[2].gpus);
        ASSERT_GE(worst(jobs, {share_a, share_b, share_c}), ours * (1 - 1e-9)) << "seed " << seed;
      }
    }
  }
}

TEST(FairShares, CapacityIsUsedUpAndJobsBelowTheWorstRatioRunAllTheTimeOrGotWhatWasLeft) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const auto jobs = random_jobs(random, static_cast<int>(random.between(1, 40)));
    const double gpus = static_cast<double>(random.between(1, 64));
    std::vector<double> shares;
    fair_shares(jobs, gpus, Leftover::InProportion, shares);
    ASSERT_EQ(shares.size(), jobs.size());
    double wanted = 0;
    for (const FairJob& job : jobs) wanted += job.gpus;
    ASSERT_NEAR(used(jobs, shares), std::min(gpus, wanted), 1e-6 * gpus) << "seed " << seed;
    // No job can be made better off without making the worst worse: where capacity binds from the
    // start, all ratios below the worst belong to jobs that run all the time.
    const double limit = worst(jobs, shares);
    double least = 0;
    for (const FairJob& job : jobs) least = std::max(least, ratio(job, 1));
    for (std::size_t i = 0; i < jobs.size() && limit > least * (1 + 1e-6); ++i) {
      ASSERT_GT(shares[i], 0);
      if (shares[i] < 1 - 1e-6) {
        ASSERT_NEAR(ratio(jobs[i], shares[i]) / limit, 1, 1e-6) << "seed " << seed << " job " << i;
      }
    }
  }
}

// The sum of the logarithms of a share's distances from what it needs, from 1, and of the GPUs that
// stay free.
double depth(const std::vector<FairJob>& jobs, double gpus, const std::vector<double>& needed,
             const std::vector<double>& shares) {
  double sum = std::log(gpus - used(jobs, shares));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (needed[i] < 1) sum += std::log(shares[i] - needed[i]) + std::log(1 - shares[i]);
  }
  return sum;
}

TEST(FairShares, TheCentreIsAsFairAndNoStepLeadsDeeperIn) {
  int with_slack = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const auto jobs = random_jobs(random, static_cast<int>(random.between(2, 12)));
    const double gpus = static_cast<double>(random.between(8, 64));
    std::vector<double> shares;
    std::vector<double> in_proportion;
    fair_shares(jobs, gpus, Leftover::Centre, shares);
    fair_shares(jobs, gpus, Leftover::InProportion, in_proportion);
    const double ratio_of_all = worst(jobs, in_proportion);
    ASSERT_NEAR(worst(jobs, shares) / ratio_of_all, 1, 1e-9) << "seed " << seed;
    ASSERT_LE(used(jobs, shares), gpus * (1 + 1e-9)) << "seed " << seed;
    if (gpus - used(jobs, shares) < 1e-3) continue;
    ++with_slack;
    std::vector<double> needed;
    for (const FairJob& job : jobs) {
      const double left_s = ratio_of_all * job.isolated - job.elapsed_s;
      needed.push_back(std::min(1.0, job.remaining_s / left_s));
    }
    const double deep = depth(jobs, gpus, needed, shares);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (1 - needed[i] < 1e-3) continue;
      for (const double step : {-1e-5, 1e-5}) {
        std::vector<double> other = shares;
        other[i] += step * (1 - needed[i]);
        ASSERT_GE(deep, depth(jobs, gpus, needed, other)) << "seed " << seed << " job " << i;
      }
    }
  }
  EXPECT_GT(with_slack, 20);
}

TEST(FairShares, NoJobAsksForNothing) {
  std::vector<double> shares = {7};
  fair_shares({}, 4, Leftover::InProportion, shares);
  EXPECT_TRUE(shares.empty());
}

}  // namespace
}  // namespace orrery
