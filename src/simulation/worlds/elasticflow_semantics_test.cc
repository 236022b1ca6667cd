#include <gtest/gtest.h>

#include "simulation/worlds/semantics.h"

namespace orrery {
namespace {

using std::chrono::seconds;

constexpr JobId kA{0};
constexpr JobId kB{1};
constexpr Duration kSlot = seconds(60);

Time at(std::int64_t second) { return Time(seconds(second)); }

// Two jobs of one GPU that take a second for an iteration, on two GPUs, under a policy that says
// when they end. The first round was at 100 s.
class ElasticFlowRounds : public testing::Test {
 protected:
  ElasticFlowRounds() {
    Node node;
    node.gpus = 2;
    cluster_.nodes = {node};
    for (const JobId job : {kA, kB}) {
      JobSpec& spec = workload_.jobs.emplace_back();
      spec.id = job;
      spec.iterations = 1000;
      spec.iteration_s = 1;
    }
    world_ = make_elasticflow_semantics(workload_, cluster_, kSlot,
                                        {.ends_as_planned = true, .charged = false}, clock_);
    std::vector<Semantics::Ended> ended;
    world_->advance(at(100), ended);
    world_->hold(kA, 10, at(100), {.job = kA, .devices = {{NodeId{0}, 1}}});
    world_->expect({.job = kA, .done = at(110)});
    world_->round_held();
  }

  Workload workload_;
  Cluster cluster_;
  ReleasedClock clock_{2};
  std::unique_ptr<Semantics> world_;
};

TEST_F(ElasticFlowRounds, PutsOffWhatHappensWithinASlotOfTheLastRound) {
  EXPECT_EQ(
      world_->round_at(at(110), {.arrival = at(900), .last_arrival = at(900), .end = at(110)}),
      at(160));
}

TEST_F(ElasticFlowRounds, HoldsTheRoundAtOnceIfNothingElseLiesAhead) {
  EXPECT_EQ(world_->round_at(at(110), {.last_arrival = at(90), .end = at(110)}), at(110));
}

TEST_F(ElasticFlowRounds, CountsTheEndOfAPausedJobAmongWhatLiesAhead) {
  world_->hold(kB, 10, at(100), {.job = kB, .devices = {{NodeId{0}, 2}}});
  world_->expect({.job = kB, .done = at(500)});
  world_->drop(kB);
  EXPECT_EQ(world_->round_at(at(110), {.last_arrival = at(90), .end = at(110)}), at(160));
}

}  // namespace
}  // namespace orrery
