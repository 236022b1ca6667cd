#include "training/trainer/head/run_end.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(RunEnd, WithoutAPromiseNoCheckpointIsMissing) { EXPECT_TRUE(RunEnd().outcome(7).ok()); }

TEST(RunEnd, ThePromisedCheckpointIsThatOfTheLastVersion) {
  RunEnd end;
  end.promise_checkpoint();
  EXPECT_EQ(end.outcome(0).error().code, Code::DataLoss);
  end.checkpoint_saved(6);
  const Status old = end.outcome(7);
  ASSERT_FALSE(old.ok());
  EXPECT_NE(old.error().message.find("the newest is of version 6"), std::string::npos);
  end.checkpoint_saved(7);
  end.checkpoint_saved(5);
  EXPECT_TRUE(end.outcome(7).ok());
}

TEST(RunEnd, TheReasonOfTheFailureIsNamed) {
  RunEnd end;
  end.promise_checkpoint();
  end.checkpoint_failed({Code::ResourceExhausted, "/run: No space left on device"});
  EXPECT_NE(end.outcome(1).error().message.find("No space left"), std::string::npos);
}

TEST(RunEnd, IsOverdueAfterTheLimit) {
  RunEnd end;
  const Time start{std::chrono::seconds(100)};
  EXPECT_FALSE(end.overdue(start, std::chrono::seconds(5)));
  EXPECT_FALSE(end.overdue(start + std::chrono::seconds(5), std::chrono::seconds(5)));
  EXPECT_TRUE(end.overdue(start + std::chrono::milliseconds(5001), std::chrono::seconds(5)));
}

}  // namespace
}  // namespace orrery
