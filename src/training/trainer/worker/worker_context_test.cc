#include "training/trainer/worker/worker_context.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using Values = std::vector<float>;

TEST(IncomingParameters, APieceGoesToItsRanges) {
  IncomingParameters incoming;
  incoming.resize(Values{1, 2, 3, 4, 5});
  const ShardPlace place{.ranges = {{.first = 1, .count = 2}, {.first = 4, .count = 1}}};
  float next = 10;
  for (const std::span<float> span : incoming.overwrite(&place)) {
    for (float& value : span) value = next++;
  }
  EXPECT_EQ(Values(incoming.values().begin(), incoming.values().end()), (Values{1, 10, 11, 4, 12}));
}

TEST(IncomingParameters, TheVersionIsUnknownFromTheFirstPieceUntilAllHaveArrived) {
  IncomingParameters incoming;
  incoming.resize(Values{1, 2});
  EXPECT_FALSE(incoming.is_complete());
  incoming.complete(7);
  EXPECT_EQ(incoming.version(), 7);
  incoming.overwrite(nullptr);
  EXPECT_FALSE(incoming.is_complete());
}

TEST(IncomingParameters, ACopyStaysAsItWasWhenMoreArrives) {
  IncomingParameters incoming;
  incoming.resize(Values{1, 2});
  const auto first = incoming.copy();
  EXPECT_EQ(incoming.copy(), first) << "one copy serves all children";
  incoming.overwrite(nullptr)[0][0] = 9;
  EXPECT_EQ(*first, (Values{1, 2}));
  EXPECT_EQ(*incoming.copy(), (Values{9, 2}));
}

}  // namespace
}  // namespace orrery
