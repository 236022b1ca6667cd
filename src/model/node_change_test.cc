#include "model/node_change.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

Time at(double value_s) { return time_from_seconds(value_s); }
using Changes = std::vector<NodeChange>;

TEST(NodeChanges, OutagesThatOverlapOrTouchAreOne) {
  const Changes changes = node_changes({{NodeId{1}, at(10), at(20)},
                                        {NodeId{1}, at(15), at(18)},
                                        {NodeId{1}, at(20), at(30)},
                                        {NodeId{0}, at(12), kNever}},
                                       {});
  EXPECT_EQ(changes, (Changes{{at(10), EventKind::NodeLost, NodeId{1}},
                              {at(12), EventKind::NodeLost, NodeId{0}},
                              {at(30), EventKind::NodeBack, NodeId{1}}}));
}

TEST(NodeChanges, AnOutageWithoutLengthIsNone) {
  EXPECT_TRUE(node_changes({{NodeId{1}, at(10), at(10)}}, {}).empty());
}

TEST(NodeChanges, ANodeIsWarnedTheNoticeBeforeItsLoss) {
  const Changes changes = node_changes({{NodeId{0}, at(100), at(200)}}, std::chrono::seconds(30));
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0], (NodeChange{at(70), EventKind::NodeWarned, NodeId{0}}));
}

TEST(NodeChanges, AWarningDoesNotComeBeforeTheNodeIsBack) {
  const Changes changes = node_changes({{NodeId{0}, at(10), at(20)}, {NodeId{0}, at(25), at(40)}},
                                       std::chrono::seconds(30));
  EXPECT_EQ(changes, (Changes{{at(0), EventKind::NodeWarned, NodeId{0}},
                              {at(10), EventKind::NodeLost, NodeId{0}},
                              {at(20), EventKind::NodeBack, NodeId{0}},
                              {at(20), EventKind::NodeWarned, NodeId{0}},
                              {at(25), EventKind::NodeLost, NodeId{0}},
                              {at(40), EventKind::NodeBack, NodeId{0}}}));
}

TEST(NodeChanges, ANodeThatIsNotThereFromTheBeginningIsNotWarned) {
  const Changes changes = node_changes({{NodeId{0}, at(0), at(20)}}, std::chrono::seconds(30));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].kind, EventKind::NodeLost);
}

}  // namespace
}  // namespace orrery
