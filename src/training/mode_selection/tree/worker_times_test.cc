#include "training/mode_selection/tree/worker_times.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

IterationSample task(int worker, double took_s, bool merged = false) {
  return {.worker = WorkerId{worker},
          .took = from_seconds(took_s),
          .usage = {.cpu_share = 0.5, .throttled_share = 0.1},
          .merged = merged};
}

// Three workers whose tasks take a second; later 2 hands in at 0.
class WorkerTimesTest : public testing::Test {
 protected:
  void tasks(int worker, double took_s, int count = 5) {
    for (int i = 0; i < count; ++i) times_.add(task(worker, took_s));
  }
  void all_alike() {
    for (const int worker : {0, 1, 2}) tasks(worker, 1);
    times_.refresh({});
  }
  double own_s(int worker, double took_s) {
    return seconds(times_.add(task(worker, took_s, true)).took);
  }

  const ParentPairs tree_{{WorkerId{2}, WorkerId{0}}};
  WorkerTimes times_{};
};

TEST_F(WorkerTimesTest, AStragglerTakesLongerThanTheMedianByTheFactor) {
  all_alike();
  EXPECT_TRUE(times_.stragglers(1.5).empty());
  tasks(1, 1.6);
  times_.refresh({});
  EXPECT_EQ(times_.stragglers(1.5), std::vector<WorkerId>{WorkerId{1}});
  EXPECT_TRUE(times_.stragglers(1.7).empty());
}

TEST_F(WorkerTimesTest, TwoTasksAreTooFewToBeCompared) {
  all_alike();
  tasks(3, 9, 2);
  times_.refresh({});
  EXPECT_TRUE(times_.stragglers(1.5).empty());
  tasks(3, 9, 1);
  times_.refresh({});
  EXPECT_EQ(times_.stragglers(1.5), std::vector<WorkerId>{WorkerId{3}});
}

TEST_F(WorkerTimesTest, AMergedChildTakesWhatItTookBeforeTheTree) {
  all_alike();
  EXPECT_DOUBLE_EQ(own_s(2, 3), 3) << "nothing is known from before a tree";
  times_.refresh({});
  times_.tree_begins();
  EXPECT_DOUBLE_EQ(own_s(2, 3), 1);
  EXPECT_DOUBLE_EQ(own_s(2, 0.5), 0.5) << "never more than it really took";
}

TEST_F(WorkerTimesTest, AMergedChildBecomesSlowerAsAllOthersDo) {
  all_alike();
  times_.tree_begins();
  tasks(0, 4);
  tasks(1, 2);
  times_.refresh(tree_);
  EXPECT_DOUBLE_EQ(own_s(2, 9), 2) << "by the least of what has changed";
  times_.refresh(tree_);
  EXPECT_EQ(times_.stragglers(1.5), std::vector<WorkerId>{WorkerId{0}});
}

TEST_F(WorkerTimesTest, WorkersThatLeftAreForgotten) {
  all_alike();
  tasks(1, 5);
  const std::vector<WorkerId> others{WorkerId{0}, WorkerId{2}};
  times_.keep_only(others);
  EXPECT_TRUE(times_.stragglers(1.5).empty());
}

TEST_F(WorkerTimesTest, BusyTimeIsTheShareInWhichAWorkerWantsItsCpu) {
  EXPECT_EQ(times_.median_busy_s(), 0);
  all_alike();
  EXPECT_NEAR(times_.median_busy_s(), 0.6, 1e-12);
}

}  // namespace
}  // namespace orrery
