#include "scheduling/policy/sharing/pollux.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "base/random.h"
#include "scheduling/policy/registry.h"
#include "scheduling/policy/sharing/pollux_data.h"
#include "scheduling/policy/test_view.h"

namespace orrery {
namespace {

using Speeds = std::vector<std::pair<int, double>>;  // by GPUs

ScalingCurve curve_of(const Speeds& speeds) {
  std::vector<GpuOption> options;
  for (const auto& [gpus, speed] : speeds) options.push_back({gpus, gpus, speed});
  return ScalingCurve(std::move(options));
}

Sharer sharer(const Speeds& speeds, int held = 0, int most_held = 64) {
  Sharer one;
  one.curve = curve_of(speeds);
  one.held = held;
  one.most_held = most_held;
  one.has_run = held > 0;
  return one;
}

std::vector<int> divided(std::vector<Sharer> sharers, int gpus) {
  const Workload workload;
  make_pollux(workload, {})->divide(sharers, gpus);
  std::vector<int> shares;
  for (const Sharer& one : sharers) shares.push_back(one.gpus());
  return shares;
}

using Shares = std::vector<int>;

TEST(Pollux, AJobThatScalesBetterGetsMore) {
  // An equal share is two: speedups 1 and 1, or 0.5 and 2 for (1, 3), or 1.1/1 and 0.5.
  const Speeds poor = {{1, 1}, {2, 1.05}, {3, 1.1}};
  const Speeds good = {{1, 1}, {2, 2}, {3, 3}};
  EXPECT_EQ(divided({sharer(poor), sharer(good)}, 4), (Shares{1, 3}));
}

TEST(Pollux, NoJobIsForgotten) {
  const Speeds slow = {{1, 0.001}};
  const Speeds fast = {{1, 100}, {2, 300}};
  EXPECT_EQ(divided({sharer(slow), sharer(fast)}, 2), (Shares{1, 1}));
}

TEST(Pollux, AJobGrowsToTwiceWhatItHasRunOn) {
  const Speeds speeds = {{1, 1}, {2, 2}, {4, 4}, {8, 8}};
  EXPECT_EQ(divided({sharer(speeds, 0, 0)}, 8), Shares{1});
  EXPECT_EQ(divided({sharer(speeds, 1, 1)}, 8), Shares{2});
  EXPECT_EQ(divided({sharer(speeds, 1, 4)}, 8), Shares{8});
}

TEST(Pollux, AJobThatRestartedOftenIsLeftAlone) {
  Sharer one = sharer({{1, 1}, {2, 1.5}}, 1);
  one.age_s = 100;
  one.start_s = 30;
  EXPECT_EQ(divided({one}, 2), Shares{2}) << "1.5 * 100 / 130 is more than 1";
  one.restarts = 1;
  EXPECT_EQ(divided({one}, 2), Shares{1}) << "1.5 * 70 / 130 is less than 1";
}

// What the best division costs, by trying all.
double least_cost(const std::vector<Sharer>& sharers, std::size_t i, int gpus,
                  const std::vector<double>& fair) {
  if (i == sharers.size()) return 0;
  const Sharer& one = sharers[i];
  double best = 1000 + least_cost(sharers, i + 1, gpus, fair);
  for (int k = 1; k < one.curve.size(); ++k) {
    if (one.curve[k].gpus > gpus) break;
    const double life = one.age_s + one.start_s;
    const double factor = k == one.held || !one.has_run
                              ? 1
                              : std::max(0.0, one.age_s - one.restarts * one.start_s) / life;
    const double own = 1 / (one.curve[k].speed / fair[i] * factor + 1e-3);
    best = std::min(best, own + least_cost(sharers, i + 1, gpus - one.curve[k].gpus, fair));
  }
  return best;
}

double cost_of(const std::vector<Sharer>& sharers, const std::vector<double>& fair) {
  double sum = 0;
  for (std::size_t i = 0; i < sharers.size(); ++i) {
    std::vector<Sharer> alone = {sharers[i]};
    const int option = sharers[i].option;
    if (option == 0) {
      sum += 1000;
      continue;
    }
    alone[0].curve = ScalingCurve({sharers[i].curve[option]});
    alone[0].held = sharers[i].held == option ? 1 : 0;
    sum += least_cost(alone, 0, 1000, {fair[i]});
  }
  return sum;
}

TEST(Pollux, TheDivisionIsAsGoodAsTryingThemAll) {
  Random random(5);
  const Workload workload;
  for (int round = 0; round < 200; ++round) {
    const int gpus = static_cast<int>(random.between(2, 9));
    const int jobs = static_cast<int>(random.between(1, 4));
    std::vector<Sharer> sharers;
    std::vector<double> fair;
    for (int j = 0; j < jobs; ++j) {
      Speeds speeds;
      for (int g = static_cast<int>(random.between(1, 2)); g <= 8; ++g) {
        speeds.push_back({g, 0.1 + random.uniform() * g});
      }
      const int held = static_cast<int>(random.between(0, 4));
      Sharer one = sharer(speeds, held);
      one.age_s = 100 * random.uniform();
      one.start_s = 30;
      one.restarts = static_cast<int>(random.between(0, 2));
      const int share = (gpus + jobs - 1) / jobs;
      fair.push_back(one.curve[std::max(1, one.curve.within(share))].speed);
      sharers.push_back(one);
    }
    make_pollux(workload, {})->divide(sharers, gpus);
    int used = 0;
    for (const Sharer& one : sharers) used += one.gpus();
    EXPECT_LE(used, gpus);
    const double best = least_cost(sharers, 0, gpus, fair);
    EXPECT_NEAR(cost_of(sharers, fair), best, 1e-9 * best) << "round " << round;
  }
}

std::string problem_of(const auto& result) { return result.ok() ? "" : result.error().message; }

TEST(PolluxData, PlacementsAreADigitANode) {
  std::istringstream in("placement,local_bsz,step_time,sync_time\n31,8,0.5,0.1\n");
  const auto steps = parse_placements("p.csv", in);
  ASSERT_TRUE(steps.ok()) << problem_of(steps);
  EXPECT_EQ(steps.value()[0].nodes, 2);
  EXPECT_EQ(steps.value()[0].replicas, 4);
  EXPECT_EQ(steps.value()[0].local_batch, 8);
}

TEST(PolluxData, WhatCannotBeIsRefusedWithItsPlace) {
  std::istringstream no_column("placement,step_time,sync_time\n1,1,0\n");
  EXPECT_EQ(problem_of(parse_placements("p.csv", no_column)),
            "p.csv:1: there is no column 'local_bsz'");
  std::istringstream no_number("iteration,grad_sqr,grad_var\n10,1,x\n");
  EXPECT_EQ(problem_of(parse_validation("v.csv", no_number)),
            "v.csv:2: grad_var: expected a number of 0 or more, not 'x'");
  std::istringstream more_sync("num_nodes,num_replicas,local_bsz,step_time,sync_time\n1,2,4,1,2\n");
  EXPECT_NE(problem_of(parse_scalability("s.csv", more_sync)), "");
  std::istringstream empty("iteration,grad_sqr,grad_var\n");
  EXPECT_EQ(problem_of(parse_validation("v.csv", empty)), "v.csv: holds no row");
}

TEST(PolluxData, AFolderThatIsNotThereIsNamed) {
  const Workload workload;
  const auto made =
      make_policy({.workload = workload,
                   .policy = {.name = "pollux", .options = {{"pollux-data", "no/such/folder"}}}});
  EXPECT_NE(problem_of(made).find("no/such/folder"), std::string::npos);
}

TEST(PolluxData, ThePublishedMeasurementsFitTheModel) {
  const std::string folder = std::string(ORRERY_SHARED) + "/data/pollux";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto models = read_training_data(folder);
  ASSERT_TRUE(models.ok()) << problem_of(models);
  EXPECT_EQ(models.value().size(), 6U);
  for (const auto& [name, data] : models.value()) {
    EXPECT_LT(log_error(fit_step_model(data.steps), data.steps), 0.15) << name;
    EXPECT_GT(goodput_of(data).best(1, 1, data.epochs.rbegin()->first, 0).iterations_per_s, 0);
  }
}

}  // namespace
}  // namespace orrery
