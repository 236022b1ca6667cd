#include "training/twin/worker_twin.h"

#include <gtest/gtest.h>

#include "training/twin/shared_link.h"

namespace orrery {
namespace {

// Two workers: a task takes 0.1 s and 10 ms a sample; the second's link carries 100 bytes a second.
TwinSetup two_workers() {
  TwinSetup setup;
  setup.workers = {{.fixed_s = 0.1, .per_sample_s = 0.01, .latency_s = 0.02},
                   {.fixed_s = 0.1, .bytes_per_s = 100, .latency_s = 0.05, .burst_s = 0.1}};
  setup.latency_factor = 2;
  return setup;
}

TwinProcessor processor(const TwinSetup& setup, int worker = 0) {
  Random seeds(1);
  return {setup, worker, seeds};
}

Time at(double time_s) { return time_from_seconds(time_s); }

constexpr Samples kTen{.first = 0, .count = 10};

TEST(WorkerTwin, ATaskTakesItsWorkAndTheLatencyOfItsPath) {
  TwinSetup setup = two_workers();
  EXPECT_NEAR(seconds(processor(setup).begin({.samples = kTen}, at(3))), 3 + 0.2 + 2 * 0.02, 1e-9);
  setup.shards.on_workers = true;
  EXPECT_NEAR(seconds(processor(setup).begin({.samples = kTen}, at(3))), 3.2 + 2 * 0.07, 1e-9)
      << "and that of the farthest shard";
}

TEST(WorkerTwin, AnotherShareOfTheCpuChangesWhatIsLeftOfATask) {
  TwinSetup setup = two_workers();
  setup.workers[0].latency_s = 0;
  TwinProcessor cpu = processor(setup);
  cpu.begin({.samples = kTen}, at(0));
  const auto ends = cpu.set_share(0.5, true, at(0.1));
  ASSERT_TRUE(ends);
  EXPECT_NEAR(seconds(*ends), 0.1 + 0.1 / 0.5, 1e-9);
  EXPECT_EQ(cpu.computed_at(), *ends);
  EXPECT_NEAR(cpu.speed(at(0.1)), 0.5, 1e-12);
  EXPECT_FALSE(cpu.set_share(1, false, at(1))) << "it has no task";
}

TEST(WorkerTwin, ACutTaskIsDoneInPart) {
  const TwinSetup setup = two_workers();
  TwinProcessor cpu = processor(setup);
  cpu.begin({.samples = kTen}, at(1));
  EXPECT_NEAR(cpu.cut(at(1.05)), 0.25, 1e-9);
}

TEST(WorkerTwin, AScriptSlowsTheCpuForItsTime) {
  TwinSetup setup = two_workers();
  setup.script =
      parse_straggler_script("at 1s server 0 cpu 0.5 for 1s", "script", 2, 1, std::chrono::hours(1))
          .value();
  TwinProcessor cpu = processor(setup);
  EXPECT_NEAR(seconds(cpu.begin({.samples = kTen}, at(1))), 1 + 0.4 + 0.04, 1e-9);
  EXPECT_NEAR(cpu.serve_s(2, 0.1), 2.1, 1e-9);
}

TEST(WorkerTwin, ALinkHasTheShareItIsGivenAndFeelsNoBurst) {
  const TwinSetup setup = two_workers();
  TwinOwnLink endless(setup, 0);
  EXPECT_EQ(endless.rate(at(0)), SharedLink::kEndless);
  EXPECT_EQ(endless.bytes_felt(50, at(0)), 50);
  TwinOwnLink link(setup, 1);
  EXPECT_DOUBLE_EQ(link.rate(at(0)), 100);
  EXPECT_DOUBLE_EQ(link.bytes_felt(50, at(0)), 40);
  EXPECT_EQ(link.bytes_felt(5, at(0)), 0);
  link.set_share(0.5);
  EXPECT_DOUBLE_EQ(link.rate(at(0)), 50);
}

}  // namespace
}  // namespace orrery
