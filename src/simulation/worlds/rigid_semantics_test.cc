#include <gtest/gtest.h>

#include "simulation/kernel/simulation.h"
#include "simulation/worlds/semantics.h"

namespace orrery {
namespace {

using std::chrono::seconds;
using Rounds = RigidRules::Rounds;
using Charged = RigidRules::Charged;

constexpr JobId kA{0};
constexpr JobId kB{1};
constexpr Duration kSlot = seconds(60);

Cluster one_node() {
  Node node;
  node.gpus = 2;
  return {.name = "", .nodes = {node}};
}

Time at(std::int64_t second) { return Time(seconds(second)); }

// Jobs of one GPU that take a second for an iteration, of which there are `length`.
Workload jobs(std::vector<std::pair<std::int64_t, double>> submitted_and_length) {
  Workload workload;
  for (const auto& [submitted, length] : submitted_and_length) {
    JobSpec& spec = workload.jobs.emplace_back();
    spec.id = static_cast<JobId>(workload.jobs.size() - 1);
    spec.submitted = at(submitted);
    spec.iterations = length;
    spec.iteration_s = 1;
  }
  return workload;
}

class World {
 public:
  World(const Workload& workload, const RigidRules& rules)
      : clock_(workload.jobs.size()),
        semantics_(make_rigid_semantics(workload, cluster_, kSlot, rules, clock_)) {}

  // What a round at this time sees end.
  std::vector<Semantics::Ended> round(Time now, std::vector<JobId> starts = {}) {
    std::vector<Semantics::Ended> ended;
    semantics_->advance(now, ended);
    for (const JobId job : starts) {
      semantics_->hold(job, 1, now, {.job = job, .devices = {{NodeId{0}, 1}}});
    }
    semantics_->round_held();
    return ended;
  }
  double held_s(JobId job) const { return clock_.held_s[index(job)]; }
  Semantics& operator*() { return *semantics_; }
  Semantics* operator->() { return semantics_.get(); }

 private:
  Cluster cluster_ = one_node();
  ReleasedClock clock_;
  std::unique_ptr<Semantics> semantics_;
};

TEST(RigidSemantics, AStartIsChargedOnceButNotForecast) {
  const Workload workload = jobs({{0, 1000}, {300, 1000}});
  World world(workload, {Rounds::AtEvents, Charged::Starts});
  world.round(at(0), {kA});
  EXPECT_EQ(world->next_end(), at(1000));
  world.round(at(300), {kB});
  EXPECT_EQ(world.held_s(kA), 296);  // 2 s for the round, 2 s for one GPU
  EXPECT_EQ(world->next_end(), at(1004));
  world.round(at(400));
  EXPECT_EQ(world.held_s(kA), 396);
}

TEST(RigidSemantics, AnEndInsideASlotIsSeenAtItsEnd) {
  const Workload workload = jobs({{0, 20}});
  World world(workload, {Rounds::AtEvents, Charged::Starts});
  world.round(at(0), {kA});
  EXPECT_EQ(world->next_end(), at(60));
  const auto ended = world.round(at(60));
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].at, at(20));
  EXPECT_EQ(ended[0].finished, at(20));
}

TEST(RigidSemantics, RoundsAreASlotApartButForTheLastArrival) {
  const Workload workload = jobs({{0, 1000}, {10, 1000}, {20, 1000}});
  World world(workload, {Rounds::AtEvents, Charged::Starts});
  world.round(at(0));
  const auto arrival = [&](std::int64_t next, Time wake = kNever) {
    return world->round_at(at(next), {.arrival = at(next), .last_arrival = at(20), .wake = wake});
  };
  EXPECT_EQ(arrival(10), at(60));
  EXPECT_EQ(arrival(20), at(20));
  EXPECT_EQ(arrival(90, at(30)), at(60));
  EXPECT_EQ(arrival(90, at(80)), at(80));
}

TEST(RigidSemantics, RoundsAreChargedUntilNoJobIsToCome) {
  const Workload workload = jobs({{0, 500}, {100, 500}, {300, 500}});
  World world(workload, {Rounds::AtArrivals, Charged::Rounds});
  world.round(at(0), {kA});
  EXPECT_EQ(world->round_at(at(60), {.arrival = at(100), .last_arrival = at(300), .end = at(60)}),
            at(100));
  world.round(at(100));
  EXPECT_NEAR(world->work_left(kA), 404, 1e-9);
  world.round(at(300));
  EXPECT_NEAR(world->work_left(kA), 208, 1e-9);
  EXPECT_EQ(world->round_at(at(360), {.last_arrival = at(300), .end = at(360)}), at(360));
  EXPECT_TRUE(world.round(at(480)).empty());
  EXPECT_NEAR(world->work_left(kA), 28, 1e-9);
  const auto ended = world.round(at(540));
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].at, at(508));
}

TEST(RigidSemantics, WhereIterationsCountAJobEndsWithTheFirstOfTheTwo) {
  Workload workload = jobs({{0, 100}, {0, 100}});
  for (const double speed : {0.5, 2.0}) {
    workload.curves.emplace_back().points = {{1, speed}};
  }
  workload.jobs[0].curve = CurveId{0};
  workload.jobs[1].curve = CurveId{1};
  World world(workload, {Rounds::EverySlot, Charged::Nothing, true});
  world.round(at(0), {kA, kB});
  const auto first = world.round(at(60));
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].job, kB);
  EXPECT_EQ(first[0].at, at(60));  // where the slot ends, as its iterations are not timed
  const auto second = world.round(at(120));
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].at, at(100));
}

TEST(RigidSemantics, RoundsInEverySlotAreCountedFromTheFirst) {
  const Workload workload = jobs({{7, 100}, {500, 100}});
  World world(workload, {Rounds::EverySlot, Charged::Nothing, true});
  world.round(at(7), {kA});
  EXPECT_EQ(world->next_end(), at(67));
  EXPECT_EQ(world->round_at(at(67), {.arrival = at(500), .end = at(67)}), at(67));
  world.round(at(67));
  EXPECT_EQ(world.round(at(127)).size(), 1u);
  EXPECT_EQ(world->next_end(), kNever);
  EXPECT_EQ(world->round_at(at(500), {.arrival = at(500)}), at(547));
}

TEST(ElasticFlowWorld, ASlotThatARoundUsesUpIsRefused) {
  const Workload workload = jobs({{0, 100}});
  const Cluster cluster = one_node();
  const SimulationSetup setup{.workload = &workload,
                              .cluster = &cluster,
                              .run = {.policy = {.name = "las", .round = seconds(4)},
                                      .semantics = SemanticsKind::ElasticFlow}};
  const Status status = check(setup);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("costs a job up to 4 s"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace orrery
