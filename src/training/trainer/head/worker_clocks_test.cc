#include "training/trainer/head/worker_clocks.h"

#include "training/emulation/test_processes.h"

namespace orrery {
namespace {

void let_use(const Child& child, double cpu_s) {
  auto opened = ProcessClock::open(child.pid());
  ASSERT_TRUE(opened.ok());
  ProcessClock clock = std::move(opened).value();
  const double from_s = clock.cpu_s();
  ASSERT_TRUE(becomes_true([&] { return clock.cpu_s() >= from_s + cpu_s; }));
}

Time at(double s) { return time_from_seconds(s); }

TEST(WorkerClocks, OfOthersMachinesNothingIsKnown) {
  WorkerClocks clocks;
  EXPECT_FALSE(clocks.mean_s().has_value());
  clocks.join(0, 0, at(0));
  clocks.sample(at(1));
  EXPECT_FALSE(clocks.mean_s().has_value());
}

TEST(WorkerClocks, WhatWasUsedBeforeItJoinedIsNoPartOfIt) {
  const Child child(spin);
  let_use(child, 0.3);
  WorkerClocks clocks;
  clocks.join(0, child.pid(), at(100));
  clocks.leave(0, at(101));
  EXPECT_LT(clocks.mean_s().value(), 0.2);
}

TEST(WorkerClocks, OneThatCameLateCountsAsIfItHadBeenThereAllTheTime) {
  const Child idle([] { ::pause(); }), busy(spin);
  WorkerClocks clocks;
  clocks.join(0, idle.pid(), at(0));
  clocks.leave(0, at(1));
  clocks.join(1, busy.pid(), at(9));
  let_use(busy, 0.05);
  clocks.leave(1, at(10));
  // Two workers' seconds have 0.05 or more; the run has ten.
  EXPECT_GE(clocks.mean_s().value(), 0.25);
}

TEST(WorkerClocks, AProcessThatIsGoneCountsUpToWhenItWasSeenLast) {
  Child child(spin);
  WorkerClocks clocks;
  clocks.join(0, child.pid(), at(0));
  let_use(child, 0.05);
  clocks.sample(at(1));
  const double seen = clocks.mean_s().value();
  EXPECT_GE(seen, 0.05);
  child.kill();
  clocks.leave(0, at(50));
  EXPECT_EQ(clocks.mean_s().value(), seen);
}

}  // namespace
}  // namespace orrery
