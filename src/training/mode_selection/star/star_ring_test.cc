// STAR in all-reduce: rings, children, and what links and sums take.
#include <gtest/gtest.h>

#include <algorithm>

#include "training/mode_selection/test_star.h"

namespace orrery {
namespace {

// No task of a ring is the longer for a slow link: its sum is.
TEST(StarInARing, ASlowLinkInARingIsFound) {
  const WorldOptions options{.architecture = Architecture::AllReduce,
                             .target_loss = 0.2,
                             .way_s = 0.02,
                             .message_s = 0.003};
  StarWorld run = under_star(options, slow_link);
  const double star_s = run.world->run();
  EXPECT_LT(star_s, 0.5 * time_under("ssgd", options, slow_link));
  const Mode& mode = run.world->conductor().mode();
  EXPECT_TRUE(std::ranges::any_of(mode.parents, [](const auto& pair) {
    return pair.first == WorkerId(3);
  })) << run.world->mode();
}

TEST(StarInARing, WhatASumTakesIsCounted) {
  // A message of a sum takes as long as half a task, so seven, which send twelve each, are the
  // worst ring there is; eight send six.
  const WorldOptions options{.architecture = Architecture::AllReduce,
                             .lambda = 0.02,
                             .target_loss = 0.2,
                             .way_s = 0.001,
                             .message_s = 0.05};
  StarWorld run = under_star(options, slow_cpu);
  const double star_s = run.world->run();
  EXPECT_LT(star_s, 0.6 * time_under("ring-7", options, slow_cpu));
  EXPECT_NE(run.world->conductor().mode().ring.size(), 7u) << run.world->mode();
}

// A parent's tasks take longer for what it does for its children. If that made it a straggler, a
// small ring would never be left.
TEST(StarInARing, AParentThatServesChildrenIsNoStraggler) {
  const WorldOptions options{.architecture = Architecture::AllReduce,
                             .lambda = 0.02,
                             .target_loss = 0.01,
                             .way_s = 0.02,
                             .message_s = 0.03,
                             .serve_s = 0.06};
  StarWorld run = under_star(options, [](int worker, double now_s, std::int64_t) {
    return Slowness{.link = worker == 3 && now_s < 30 ? 20.0 : 1.0};
  });
  run.world->run_for(28);
  const Mode slow = run.world->conductor().mode();
  EXPECT_LT(slow.ring.size(), 8u) << run.world->mode();
  EXPECT_FALSE(slow.parents.empty());
  run.world->run_for(32);
  EXPECT_EQ(run.world->mode(), "ring-8");
}

// A member that becomes slow while others are its children is not kept in the ring.
TEST(StarInARing, ARingIsFormedAgainWhenAMemberBecomesSlow) {
  const WorldOptions options{.architecture = Architecture::AllReduce,
                             .jitter = 0.15,
                             .lambda = 0.02,
                             .target_loss = 0.001,
                             .way_s = 0.004,
                             .message_s = 0.006,
                             .serve_s = 0.012};
  int victim = -1;
  StarWorld run = under_star(options, [&victim](int worker, double, std::int64_t) {
    return Slowness{.compute = worker == victim ? 4.0 : 1.0, .link = worker >= 4 ? 20.0 : 1.0};
  });
  run.world->run_for(18);
  const Mode before = run.world->conductor().mode();
  ASSERT_FALSE(before.ring.empty());
  victim = static_cast<int>(before.ring.front());
  run.world->run_for(30);
  const Mode after = run.world->conductor().mode();
  EXPECT_FALSE(std::ranges::binary_search(after.ring, WorkerId(victim))) << run.world->mode();
}

// Members of a new ring wait for each other in their first task, and one that waits is not slow.
// One that is, by far, shows it in that task.
TEST(StarInARing, AMemberThatMeetsTheOthersIsNoStraggler) {
  const WorldOptions options{.architecture = Architecture::AllReduce,
                             .per_sample_s = 0.01,
                             .jitter = 0.15,
                             .way_s = 0.001,
                             .message_s = 0.001,
                             .meet_s = 0.3};
  StarWorld alike = under_star(options, none_slow);
  alike.world->run_for(30);
  EXPECT_TRUE(alike.star->notes().empty()) << alike.world->mode();
  StarWorld slow = under_star(options, slow_cpu);
  slow.world->run_for(4);
  ASSERT_EQ(slow.star->notes().size(), 1u);
  const double first_s = 32 * 0.01 + 7 * 0.3;
  EXPECT_LT(seconds(slow.star->notes()[0].at), 1.2 * first_s);
  const Mode mode = slow.world->conductor().mode();
  EXPECT_FALSE(std::ranges::binary_search(mode.ring, WorkerId(3))) << slow.world->mode();
}

// Among many workers whose tasks scatter, the slowest is far from the fastest by chance. A director
// that takes that for straggling forms new rings all the time. That a smaller ring waits for less
// is tried out, once.
TEST(StarInARing, ARingIsSeldomFormedAgainForTasksThatScatter) {
  std::size_t switches = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    StarWorld run = under_star({.architecture = Architecture::AllReduce,
                                .jitter = 0.4,
                                .way_s = 0.01,
                                .message_s = 0.01,
                                .seed = seed},
                               none_slow);
    run.world->run_for(120);
    std::size_t tried = 0;
    for (const ModeSwitch& note : run.star->notes()) {
      const bool try_out = note.reason.starts_with("tried out");
      tried += try_out ? 1 : 0;
      switches += try_out || note.reason == "it did not help" ? 0 : 1;
    }
    EXPECT_LE(tried, 1u) << seed << ' ' << run.world->mode();
  }
  EXPECT_LE(switches, 4u);
}

}  // namespace
}  // namespace orrery
