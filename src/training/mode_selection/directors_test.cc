#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "training/mode_selection/director_by_name.h"
#include "training/mode_selection/test_world.h"

namespace orrery {
namespace {

Slowness none_slow(int, double, std::int64_t) { return {}; }
Slowness third_4x_slow(int worker, double, std::int64_t) {
  return {.compute = worker == 3 ? 4.0 : 1.0};
}

std::unique_ptr<Director> director(std::string_view name, DirectorOptions options = {}) {
  options.workers = 8;
  auto made = director_by_name(name, 0, std::move(options));
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

TEST(LbBsp, GivesTheSlowWorkerASmallerBatchStepByStep) {
  LbBspOptions options;
  const auto lb_bsp = make_lb_bsp_director(options);
  std::vector<WorkerId> workers = {WorkerId(0), WorkerId(1)};
  std::int64_t done = 0;
  double share = 0.5;
  Mode mode;
  for (int round = 0; round < 60; ++round) {
    for (int w = 0; w < 2; ++w) {
      const int batch = std::max(
          1,
          static_cast<int>(std::lround(
              mode.shares.empty() ? 50 : 100 * mode.shares[static_cast<std::size_t>(w)].second)));
      lb_bsp->on_iteration(IterationSample{.worker = WorkerId(w),
                                           .took = from_seconds(batch * (w == 1 ? 0.004 : 0.001)),
                                           .samples = batch});
    }
    done += 100;
    mode = lb_bsp->direct(
        {.workers = workers, .global_batch = 100, .samples_done = done, .mode = &mode});
    if (mode.shares.empty()) continue;
    const double now = mode.shares[1].second;
    EXPECT_LE(std::abs(now - share), 0.125 + 1e-9) << "a quarter of an equal batch at a time";
    share = now;
    EXPECT_NEAR(mode.shares[0].second + mode.shares[1].second, 1, 1e-9);
  }
  EXPECT_NEAR(share, 0.2, 0.02);
}

TEST(LbBsp, DoesNothingWhereAllAreAlike) {
  TestWorld world({}, none_slow, director("lb-bsp"));
  world.run_for(30);
  EXPECT_EQ(world.mode(), "ssgd");
}

TEST(LbBsp, AllReachTheBarrierTogether) {
  TestWorld balanced({}, third_4x_slow, director("lb-bsp"));
  TestWorld plain({}, third_4x_slow, director("ssgd"));
  EXPECT_LT(balanced.run(), 0.4 * plain.run());
}

TEST(SyncSwitch, GoesToAspAfterItsPartAndStays) {
  DirectorOptions options;
  options.samples_limit = 256 * 1000;
  TestWorld world({}, none_slow, director("sync-switch-plain", std::move(options)));
  world.run_for(0.11 * 55);
  EXPECT_EQ(world.mode(), "ssgd");
  world.run_for(0.11 * 20);
  EXPECT_EQ(world.mode(), "asgd");
  world.run_for(30);
  EXPECT_EQ(world.conductor().counts().mode_switches, 1);
}

// Slow from 5 to 15 s.
Slowness for_ten_seconds(int worker, double now_s, std::int64_t) {
  return {.compute = worker == 3 && now_s >= 5 && now_s < 15 ? 4.0 : 1.0};
}

TEST(SyncSwitch, GreedyIsAsynchronousWhileAWorkerStraggles) {
  DirectorOptions options;
  options.samples_limit = 256 * 100000;
  TestWorld world({}, for_ten_seconds, director("sync-switch", std::move(options)));
  world.run_for(4.5);
  EXPECT_EQ(world.mode(), "ssgd");
  world.run_for(8);
  EXPECT_EQ(world.mode(), "asgd");
  world.run_for(12);
  EXPECT_EQ(world.mode(), "ssgd");
}

TEST(SyncSwitch, ElasticTakesTheStragglerOutOfTheBarrier) {
  DirectorOptions options;
  options.samples_limit = 256 * 100000;
  TestWorld world({}, for_ten_seconds, director("sync-switch-elastic", std::move(options)));
  world.run_for(12);
  EXPECT_EQ(world.mode(), "dynamic-{7,1}");
  ASSERT_EQ(world.conductor().mode().groups.size(), 1u);
  EXPECT_FALSE(std::ranges::binary_search(world.conductor().mode().groups[0], WorkerId(3)));
  world.run_for(12);
  EXPECT_EQ(world.mode(), "ssgd");
}

TEST(Dynamic, GroupsByTimesAndAgainWhenTheyChange) {
  TestWorld world({}, for_ten_seconds, director("dynamic"));
  world.run_for(4.5);
  EXPECT_EQ(world.mode(), "ssgd");
  world.run_for(8);
  EXPECT_EQ(world.mode(), "dynamic-{7,1}");
  world.run_for(12);
  EXPECT_EQ(world.mode(), "ssgd");
}

TEST(Dynamic, StaysSynchronousWhileNoWorkerStragglesHoweverTimesScatter) {
  for (const double jitter : {0.1, 0.3, 0.6}) {
    TestWorld world({.workers = 4, .jitter = jitter}, none_slow, director("dynamic"));
    world.run_for(60);
    EXPECT_EQ(world.conductor().counts().mode_switches, 0) << "jitter " << jitter;
  }
}

TEST(Dynamic, KeepsItsGroupsWhileTheSameWorkersStraggle) {
  TestWorld world({.jitter = 0.3}, third_4x_slow, director("dynamic"));
  world.run_for(60);
  EXPECT_EQ(world.mode(), "dynamic-{7,1}");
  EXPECT_LE(world.conductor().counts().mode_switches, 2);
}

TEST(Lgc, ChoosesItsKByTheTradeOff) {
  DirectorOptions options;
  options.blocks = 4;
  TestWorld slow({.blocks = 4}, third_4x_slow, director("lgc", std::move(options)));
  slow.run_for(20);
  EXPECT_EQ(slow.mode(), "lgc-7");
  DirectorOptions same;
  same.blocks = 4;
  TestWorld equal({.blocks = 4}, none_slow, director("lgc", std::move(same)));
  equal.run_for(20);
  EXPECT_EQ(equal.mode(), "lgc-8");
}

TEST(Ring, TheSlowestAreChildren) {
  DirectorOptions options;
  options.architecture = Architecture::AllReduce;
  TestWorld world({.architecture = Architecture::AllReduce}, third_4x_slow,
                  director("ring-7", std::move(options)));
  world.run_for(10);
  EXPECT_EQ(world.mode(), "ring-7+1");
  ASSERT_EQ(world.conductor().mode().parents.size(), 1u);
  EXPECT_EQ(world.conductor().mode().parents[0].first, WorkerId(3));
}

std::unique_ptr<Director> ring_of_four() {
  DirectorOptions options;
  options.architecture = Architecture::AllReduce;
  return director("ring-4", std::move(options));
}

// Which four are the fastest changes from look to look, and does not matter.
TEST(Ring, FormsAtOnceWhereAllAreAlike) {
  TestWorld world({.architecture = Architecture::AllReduce, .jitter = 0.2}, none_slow,
                  ring_of_four());
  world.run_for(2);
  EXPECT_EQ(world.mode(), "ring-4+4");
  const Mode first = world.conductor().mode();
  world.run_for(60);
  EXPECT_EQ(world.conductor().mode(), first);
}

TEST(Ring, AWorkerThatBecomesSlowLeavesIt) {
  std::vector<WorkerId> ring;
  const auto one_of_the_ring = [&ring](int worker, double now_s, std::int64_t) {
    const bool slow = now_s > 10 && !ring.empty() && ring.front() == WorkerId(worker);
    return Slowness{.compute = slow ? 4.0 : 1.0};
  };
  TestWorld world({.architecture = Architecture::AllReduce, .jitter = 0.2}, one_of_the_ring,
                  ring_of_four());
  world.run_for(10);
  ring = world.conductor().mode().ring;
  ASSERT_EQ(ring.size(), 4u);
  world.run_for(15);
  EXPECT_EQ(world.mode(), "ring-4+4");
  EXPECT_FALSE(std::ranges::binary_search(world.conductor().mode().ring, ring.front()));
}

TEST(DirectorByName, KnowsAllNames) {
  for (const std::string_view name : director_names()) {
    for (const auto architecture : {Architecture::ParameterServers, Architecture::AllReduce}) {
      DirectorOptions options;
      options.workers = 8;
      options.samples_limit = 1000;
      options.architecture = architecture;
      const int x = name == "static" || name == "lgc" || name == "ssp" ? 3 : 0;
      const auto made = director_by_name(name, x, std::move(options));
      const bool needs_servers =
          name == "asgd" || name == "static" || name == "ssp" || name == "lgc" || name == "zeno++";
      const bool needs_ring = name == "ring";
      EXPECT_EQ(made.ok(),
                architecture == Architecture::ParameterServers ? !needs_ring : !needs_servers)
          << name;
    }
  }
}

TEST(DirectorByName, TakesTheNumberFromTheNameOrApart) {
  const Situation situation{.global_batch = 8};
  const auto mode = [&](std::string_view name, int x) {
    return director_by_name(name, x, {.workers = 8}).value()->direct(situation);
  };
  EXPECT_EQ(mode("static-5", 0).x, 5);
  EXPECT_EQ(mode("static", 5).x, 5);
  EXPECT_EQ(mode("static-x", 5).x, 5);
  EXPECT_EQ(mode("ssp-3", 0).bound, 3);
  EXPECT_EQ(mode("lgc-6", 0).x, 6);
  EXPECT_EQ(mode("asgd", 0).x, 1);
  EXPECT_EQ(mode("zeno++", 0).rule, SyncRuleKind::ZenoPlus);
}

TEST(DirectorByName, SaysWhatIsWrong) {
  const auto message = [](std::string_view name, int x) {
    const auto made = director_by_name(name, x, {.workers = 8});
    EXPECT_FALSE(made.ok());
    return made.ok() ? "" : made.error().message;
  };
  EXPECT_NE(message("sgd", 0).find("nearest is ssgd"), std::string::npos);
  EXPECT_NE(message("static-9", 0).find("1 to the number of workers, 8"), std::string::npos);
  EXPECT_NE(message("static-", 0).find("write a number"), std::string::npos);
  EXPECT_NE(message("static-5", 6).find("different things"), std::string::npos);
  EXPECT_NE(message("sync-switch", 0).find("--steps"), std::string::npos);
  EXPECT_NE(message("ring-2", 0).find("--arch allreduce"), std::string::npos);
  EXPECT_NE(message("ring", 2).find("--arch allreduce"), std::string::npos);
  EXPECT_NE(message("ssgd", 3).find("takes no number"), std::string::npos);
  EXPECT_NE(message("dynamic-3", 0).find("takes no number"), std::string::npos);
  const auto ring =
      director_by_name("ring-9", 0, {.workers = 8, .architecture = Architecture::AllReduce});
  EXPECT_NE(ring.error().message.find("1 to 8"), std::string::npos);
}

}  // namespace
}  // namespace orrery
