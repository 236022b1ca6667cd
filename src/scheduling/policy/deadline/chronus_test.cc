#include "scheduling/policy/deadline/chronus.h"

#include <gtest/gtest.h>

#include "scheduling/policy/registry.h"
#include "scheduling/policy/test_view.h"

namespace orrery {
namespace {

// Four GPUs, leases of 100 s, and nothing reserved beyond the work.
class ChronusTest : public testing::Test {
 protected:
  ChronusTest() {
    world.cluster.nodes.resize(1);
    world.cluster.nodes[0].gpus = 4;
    packer.emplace(world.cluster, std::span<const std::string>(), make_first_fit(0));
  }

  // Seconds of work; without a deadline if it is 0.
  void add(double now_s, double work_s, double deadline_s, int gpus) {
    JobSpec& spec = world.add(now_s, work_s, gpus);
    if (deadline_s > 0) spec.deadline = time_from_seconds(deadline_s);
    world.job(static_cast<int>(index(spec.id))).shape = packer->intern({.gpus = gpus});
    world.arrived.push_back(spec.id);
  }

  // Plans and carries the plan out. Returns the jobs that run.
  std::vector<int> plan(double now_s) {
    made.clear();
    packer->current().forget();
    chronus->plan(world.at(now_s), *packer, made);
    packer->current().undo(0);
    for (const auto& stop : made.stops()) {
      const int id = static_cast<int>(stop.job);
      packer->current().release(world.job(id).held.devices, {.gpus = gpus_of(id)});
      world.pause(id, now_s);
    }
    for (const Grant& grant : made.grants()) {
      const int id = static_cast<int>(grant.job);
      if (world.job(id).state == JobState::Running) continue;
      world.run(id, now_s);
      world.job(id).held = grant;
      packer->current().take(grant.devices, {.gpus = gpus_of(id)});
    }
    packer->current().forget();
    world.arrived.clear();
    world.ended.clear();
    std::vector<int> running;
    for (int id = 0; id < static_cast<int>(world.workload.jobs.size()); ++id) {
      if (world.job(id).state == JobState::Running) running.push_back(id);
    }
    return running;
  }
  int gpus_of(int id) { return world.workload.jobs[static_cast<std::size_t>(id)].gpus; }

  TestView world;
  std::optional<Packer> packer;
  ChronusOptions options{.lease = std::chrono::seconds(100), .margin = 1, .early = false};
  std::unique_ptr<Policy> chronus;
  Plan made;
};

using Jobs = std::vector<int>;

TEST_F(ChronusTest, AnAcceptedJobRunsAtTheNextLeaseIfNoJobWasRefused) {
  chronus = make_chronus(options);
  add(0, 200, 900, 2);
  EXPECT_EQ(plan(0), Jobs{}) << "this lease is settled";
  ASSERT_EQ(made.waits().size(), 1U);
  EXPECT_EQ(made.waits()[0].reason.code, Reason::Code::Later);
  EXPECT_EQ(made.waits()[0].reason.from, time_from_seconds(700));
  EXPECT_EQ(made.wake_at(), time_from_seconds(100));
  EXPECT_EQ(plan(100), Jobs{0});
}

TEST_F(ChronusTest, ItWaitsForItsLeasesIfOneWasRefused) {
  chronus = make_chronus(options);
  add(0, 200, 900, 4);
  add(0, 350, 390, 4);  // four leases before lease 3 ends: too many
  EXPECT_EQ(plan(0), Jobs{1}) << "what is left goes to the job that was refused";
  EXPECT_EQ(plan(100), Jobs{1});
}

TEST_F(ChronusTest, AReservationPreemptsAJobThatRunsOnWhatIsLeft) {
  chronus = make_chronus(options);
  add(0, 1000, 0, 4);
  EXPECT_EQ(plan(0), Jobs{0});
  add(10, 100, 250, 4);  // has lease 1 alone
  EXPECT_EQ(plan(10), Jobs{0});
  world.job(0).work_left = 900;
  EXPECT_EQ(plan(100), Jobs{1});
  ASSERT_EQ(made.stops().size(), 1U);
  EXPECT_EQ(made.stops()[0].job, JobId{0});
}

TEST_F(ChronusTest, WhoseReservationWouldBreakAnotherIsTurnedAway) {
  chronus = make_chronus(options);
  add(0, 200, 300, 4);  // leases 1 and 2
  add(0, 100, 300, 4);
  plan(0);
  EXPECT_EQ(plan(100), Jobs{0});
}

TEST_F(ChronusTest, OthersAreMovedIfTheNewJobThenFits) {
  chronus = make_chronus(options);
  // Both wide ones take the last lease, 2; the narrow one needs 1 and 2.
  add(0, 100, 300, 2);
  add(0, 100, 300, 2);
  add(0, 200, 300, 1);
  plan(0);
  for (const auto& wait : made.waits()) EXPECT_EQ(wait.reason.code, Reason::Code::Later);
  EXPECT_EQ(made.waits().size(), 3U);
}

TEST_F(ChronusTest, AcceptedJobsUseIdleGpusEarlyIfAllowed) {
  options.early = true;
  chronus = make_chronus(options);
  add(0, 200, 900, 2);
  EXPECT_EQ(plan(0), Jobs{0});
}

TEST_F(ChronusTest, WhatIsLeftGoesToTheJobThatIsDoneSoonest) {
  chronus = make_chronus(options);
  add(0, 300, 0, 3);
  add(0, 200, 0, 3);
  EXPECT_EQ(plan(0), Jobs{1});
}

TEST_F(ChronusTest, NewcomersAreLookedAtWhenTheSlotBegins) {
  options.slot = std::chrono::seconds(50);
  chronus = make_chronus(options);
  add(0, 300, 0, 1);
  EXPECT_EQ(plan(0), Jobs{0});
  add(20, 100, 0, 1);
  EXPECT_EQ(plan(20), Jobs{0});
  EXPECT_EQ(made.wake_at(), time_from_seconds(50));
  EXPECT_EQ(plan(50), (Jobs{0, 1}));
}

TEST(ChronusOptions, ALeaseTooShortToCountIsRefused) {
  const Workload workload;
  for (const std::string key : {"lease", "slot"}) {
    const auto made = make_policy(
        {.workload = workload, .policy = {.name = "chronus", .options = {{key, "5s"}}}});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().message, "option " + key + ": 5s is too short; write 10s or longer");
  }
}

}  // namespace
}  // namespace orrery
