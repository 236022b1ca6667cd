#include "training/sync/topology.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using Workers = std::vector<WorkerId>;

constexpr WorkerId w(int i) { return WorkerId{i}; }

Membership membership_of(int workers) {
  Membership membership;
  for (int i = 0; i < workers; ++i) membership.add(w(i));
  return membership;
}

TEST(RingAmong, AllWorkersAreTheRingUnlessTheModeSaysOtherwise) {
  EXPECT_EQ(ring_among({}, membership_of(3)).ring, (Workers{w(0), w(1), w(2)}));
  EXPECT_EQ(ring_among({.ring = {w(8), w(9)}}, membership_of(2)).ring, (Workers{w(0), w(1)}));
}

TEST(RingAmong, ChildrenGetTheParentNamedOrTheNextOfTheRing) {
  const Mode mode{.ring = {w(4), w(1), w(1)}, .parents = {{w(2), w(4)}, {w(3), w(0)}}};
  const RingShape shape = ring_among(mode, membership_of(6));
  EXPECT_EQ(shape.ring, (Workers{w(1), w(4)}));
  EXPECT_EQ(shape.parents, (ParentPairs{{w(0), w(1)}, {w(2), w(4)}, {w(3), w(4)}, {w(5), w(1)}}));
}

TEST(TreeAmong, IsTwoLevelsDeep) {
  const Mode mode{
      .parents = {
          {w(1), w(0)}, {w(2), w(1)}, {w(3), w(3)}, {w(1), w(4)}, {w(4), w(7)}, {w(5), w(0)}}};
  EXPECT_EQ(tree_among(mode, membership_of(6)), (ParentPairs{{w(1), w(0)}, {w(5), w(0)}}));
}

}  // namespace
}  // namespace orrery
