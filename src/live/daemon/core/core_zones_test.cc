// Placement by what agents say of their zones and losses.
#include "live/daemon/core/test_core.h"

namespace orrery {
namespace {

class CoreZones : public ::testing::Test {
 protected:
  CoreZones() : test_({.policy = {.name = "fifo", .options = {{"placement", "survival"}}}}) {}

  void join(const std::string& node, std::int64_t connection, const std::string& zone,
            double losses_per_day) {
    report(node, connection, zone, losses_per_day);
    test_.pass();
  }
  void report(const std::string& node, std::int64_t connection, const std::string& zone,
              double losses_per_day) {
    test_.core.reported(connection,
                        {.offer = {.name = node,
                                   .address = node,
                                   .gpus = 4,
                                   .zone = zone,
                                   .losses_per_day = losses_per_day},
                         .instance = "i-" + node,
                         .number = ++reports_,
                         .term = test_.orders[connection].term,
                         .orders = test_.orders[connection].number},
                        test_.now);
  }
  std::vector<std::string> nodes_of(JobNumber job) const {
    std::vector<std::string> names;
    for (const NodeId node : test_.job(job).ran_on) {
      names.push_back(test_.core.book().node(node).offer.name);
    }
    return names;
  }

  TestCore test_;
  std::int64_t reports_ = 0;
};

using Names = std::vector<std::string>;

TEST_F(CoreZones, AGangIsInOneZoneSoThatItMeetsTheLossesOfOne) {
  join("n1", 1, "a", 0.2);
  join("n2", 2, "b", 0.1);
  join("n3", 3, "a", 0.2);
  join("n4", 4, "b", 0.1);
  EXPECT_EQ(nodes_of(test_.submit({.gpus = 8})), (Names{"n2", "n4"}));
  EXPECT_EQ(nodes_of(test_.submit({.gpus = 8})), (Names{"n1", "n3"}));
}

TEST_F(CoreZones, AJobGoesWhereNodesAreSeldomLost) {
  join("spot", 1, "a", 1.5);
  join("kept", 2, "a", 0);
  EXPECT_EQ(nodes_of(test_.submit({.gpus = 1})), Names{"kept"});
}

void expect_known(const Core& core) {
  const std::vector<Node>& nodes = core.book().cluster().nodes;
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].losses_per_day, 1.5);
  EXPECT_EQ(nodes[1].losses_per_day, 0.25);
  EXPECT_NE(nodes[0].zone, nodes[1].zone);
}

TEST_F(CoreZones, ARestartAndASnapshotKeepThem) {
  join("spot", 1, "a", 1.5);
  join("kept", 2, "b", 0.25);
  const std::string snapshot = test_.core.snapshot(std::chrono::hours(1));
  Core again({.policy = {.name = "fifo", .options = {{"placement", "survival"}}}});
  ASSERT_TRUE(again.restore(snapshot).ok());
  ASSERT_TRUE(again.begin(1, test_.now).ok());
  expect_known(again);
  Core replayed({.policy = {.name = "fifo", .options = {{"placement", "survival"}}}});
  for (const Record& record : test_.log) ASSERT_TRUE(replayed.recover(record).ok());
  expect_known(replayed);
}

TEST_F(CoreZones, ANodeThatExpectsNonsenseIsRefusedWithTheReason) {
  report("n", 1, "a", -1);
  test_.pass();
  EXPECT_NE(test_.orders[1].refused.find("from 0 to 86400 is possible"), std::string::npos)
      << test_.orders[1].refused;
  report("m", 2, "a\nb", 0);
  test_.pass();
  EXPECT_NE(test_.orders[2].refused.find("not visible"), std::string::npos);
}

}  // namespace
}  // namespace orrery
