#include "scheduling/survival/node_hazard.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace orrery {
namespace {

using std::chrono::hours;

Time day(double days) { return time_from_seconds(days * 86400); }
const NodeId kA{0};
const NodeId kB{1};

TEST(NodeHazard, NothingIsKnownBeforeTheFirstLoss) {
  const NodeHazard hazard(2, Time());
  EXPECT_EQ(hazard.losses_per_day(kA, day(10)), 0);
}

TEST(NodeHazard, ALossRaisesTheRateOfAllByTheFleet) {
  NodeHazard hazard(10, Time());
  hazard.lose(kA, day(10));
  // One loss in 100 node days, and the prior is one loss at that rate.
  EXPECT_NEAR(hazard.losses_per_day(kB, day(10)), 2.0 / 200, 1e-12);
}

TEST(NodeHazard, NodesThatDieYoungMakeYoungNodesRisky) {
  NodeHazard hazard(20, Time());
  // A is lost an hour after each repair; the others live.
  for (int i = 0; i < 20; ++i) {
    hazard.lose(kA, day(1 + i) + hours(1));
    hazard.bring_back(kA, day(2 + i));
  }
  const double young = hazard.losses_per_day(kA, day(21));
  EXPECT_GT(young, 100 * hazard.losses_per_day(kB, day(21)));
  EXPECT_LT(hazard.losses_per_day(kA, day(21) + hours(20)), young / 10) << "it has lived";
}

TEST(NodeHazard, TheEstimateFindsTheTrueRateOfLivesWithoutMemory) {
  Random random(7);
  NodeHazard hazard(1, Time());
  Time now{};
  for (int i = 0; i < 20'000; ++i) {
    now += from_seconds(random.exponential(2 * 86400));
    hazard.lose(kA, now);
    hazard.bring_back(kA, now);
  }
  for (const int age_h : {0, 4, 8, 16, 40, 90}) {
    EXPECT_NEAR(hazard.losses_per_day(kA, now + hours(age_h)), 0.5, 0.05) << age_h;
  }
}

TEST(NodeHazard, ANodeThatIsDownAddsNoTime) {
  NodeHazard hazard(1, Time());
  hazard.lose(kA, day(10));
  EXPECT_NEAR(hazard.losses_per_day(kA, day(1000)), 2.0 / 20, 1e-12);
}

}  // namespace
}  // namespace orrery
