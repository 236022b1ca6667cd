// The scheduler's and the agents' own code in worlds where everything goes wrong. A world that
// fails is named by its seed: ORRERY_FAULT_SEED=N runs that one alone and prints its story, with
// ORRERY_FAULT_JOB=M all that the log says of a job; ORRERY_FAULT_SEEDS=N runs that many.
#include <gtest/gtest.h>

#include <cstdlib>

#include "faults/world.h"

namespace orrery {
namespace {

const char* const kPolicies[] = {"fifo", "srtf", "las", "muri-l", "gandiva"};
constexpr std::uint64_t kWorlds = 200;
constexpr std::uint64_t kParts = 8;  // tests that can run beside each other

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void run(std::uint64_t seed, bool print, int& acknowledged, int& crashes, int& completed) {
  World world(seed, {}, kPolicies[seed % std::size(kPolicies)]);
  world.storm(std::chrono::seconds(120));
  if (world.wrong().empty() && !world.calm_down(std::chrono::seconds(1200))) {
    ADD_FAILURE() << "seed " << seed << ": not everything ends\n" << world.story();
    return;
  }
  if (world.wrong().empty()) world.check_end();
  EXPECT_EQ(world.wrong(), "") << "seed " << seed << "; ORRERY_FAULT_SEED=" << seed
                               << " runs it alone\n"
                               << world.story();
  if (print) std::fputs(world.story().c_str(), stderr);
  acknowledged += world.acknowledged();
  crashes += world.crashes();
  completed += world.completed();
}

class Faults : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Faults, LoseNoJobAndRunNoneTwice) {
  int acknowledged = 0;
  int crashes = 0;
  int completed = 0;
  const std::uint64_t one = number_from("ORRERY_FAULT_SEED", 0);
  if (one != 0) {
    if (GetParam() == 0) run(one, true, acknowledged, crashes, completed);
    return;
  }
  const std::uint64_t worlds = number_from("ORRERY_FAULT_SEEDS", kWorlds);
  for (std::uint64_t seed = 1 + GetParam(); seed <= worlds && !HasFailure(); seed += kParts) {
    run(seed, false, acknowledged, crashes, completed);
  }
  // A storm in which nothing was at stake would prove nothing.
  EXPECT_GT(acknowledged, 50);
  EXPECT_GT(crashes, 5);
  EXPECT_GT(completed, 20);
}

// Machines are cut off now and then, for a minute at most; nothing else is wrong.
Weather fair() {
  return {.late = 0.02,
          .partition = 0.002,
          .scheduler_crash = 0,
          .disk_fault = 0,
          .agent_crash = 0.001,
          .machine_reboot = 0,
          .runs = std::chrono::hours(2000),
          .hasty = 0,
          .node_timeout = std::chrono::hours(12)};
}

class Outages : public testing::TestWithParam<double> {};

TEST_P(Outages, StopNoJobAndRunNoneTwice) {
  const CoreOptions options;
  const auto length =
      Duration(static_cast<std::int64_t>(GetParam() * static_cast<double>(options.lease.count())));
  std::int64_t running = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed, fair(), kPolicies[seed % std::size(kPolicies)]);
    world.storm(std::chrono::seconds(60));
    running += world.running();
    world.outage(length);
    world.storm(std::chrono::seconds(60));
    EXPECT_EQ(world.wrong(), "") << world.story();
    EXPECT_EQ(world.lease_losses(), 0) << world.story();
  }
  EXPECT_GT(running, 5);
}

TEST(Outages, StopJobsWhoseNodeTimeoutIsShorter) {
  Weather weather = fair();
  weather.node_timeout = std::chrono::seconds(15);
  World world(1, weather, "fifo");
  world.storm(std::chrono::seconds(60));
  world.outage(std::chrono::seconds(60));
  EXPECT_EQ(world.wrong(), "") << world.story();
  EXPECT_GT(world.lease_losses(), 0) << "else the other tests would prove nothing";
}

INSTANTIATE_TEST_SUITE_P(InLeases, Outages, testing::Values(0.1, 1, 2, 10, 100, 1000));

// What was decided after the copy is in no log, and runs on nodes all the same.
TEST(Restores, OfAnOlderCopyOfTheLogRunNoJobTwice) {
  int acknowledged = 0;
  for (std::uint64_t seed = 1; seed <= number_from("ORRERY_FAULT_SEEDS", 40); ++seed) {
    SCOPED_TRACE(seed);
    World world(seed, {}, kPolicies[seed % std::size(kPolicies)]);
    world.storm(std::chrono::seconds(40));
    world.back_up();
    for (int i = 0; i < 2; ++i) {
      world.storm(std::chrono::seconds(30));
      world.restore();
    }
    world.storm(std::chrono::seconds(60));
    ASSERT_TRUE(!world.wrong().empty() || world.calm_down(std::chrono::seconds(1200)))
        << "not everything ends\n"
        << world.story();
    if (world.wrong().empty()) world.check_end();
    ASSERT_EQ(world.wrong(), "") << world.story();
    acknowledged += world.acknowledged();
  }
  EXPECT_GT(acknowledged, 50);
}

TEST(Outages, AMachineThatIsOffLosesItsJobsToOthersAfterTheNodeTimeout) {
  std::size_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Weather weather = fair();
    weather.node_timeout = std::chrono::seconds(300);
    weather.partition = weather.agent_crash = 0;
    weather.operator_looks = false;
    World world(seed, weather, "fifo");
    world.storm(std::chrono::seconds(60));
    const std::size_t ran = world.switch_off_one();
    world.storm(std::chrono::seconds(290));
    // Also where none ran: orders may have been under way.
    EXPECT_TRUE(ran == 0 || world.counted_on_machines_off() > 0) << world.story();
    // Reports that were under way, the longest grace, margin and drift.
    world.storm(std::chrono::seconds(50));
    EXPECT_EQ(world.wrong(), "") << world.story();
    EXPECT_EQ(world.counted_on_machines_off(), 0u) << world.story();
    moved += ran;
  }
  EXPECT_GT(moved, 5u);
}

INSTANTIATE_TEST_SUITE_P(InPart, Faults, testing::Range(std::uint64_t{0}, kParts));

}  // namespace
}  // namespace orrery
