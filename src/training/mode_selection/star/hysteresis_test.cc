#include "training/mode_selection/star/hysteresis.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr int kBatch = 64;

// Two workers in training: what the hysteresis allows as time and samples go on.
class SwitchHysteresisTest : public testing::Test {
 protected:
  SwitchHysteresisTest() {
    forecast_.keep_only(workers_, Architecture::ParameterServers);
    hysteresis_.begin(now_);
  }
  void pass(double more_s, double rounds) {
    now_.now += from_seconds(more_s);
    now_.samples_done += static_cast<std::int64_t>(rounds * kBatch);
  }
  void finish_tasks(int count) {
    for (const WorkerId worker : workers_) {
      for (int i = 0; i < count; ++i) {
        forecast_.add({.worker = worker, .took = from_seconds(0.1), .samples = 32}, Mode{});
      }
    }
  }
  bool is_due() { return hysteresis_.is_due(now_, forecast_, false); }

  const StarOptions options_{};
  const std::vector<WorkerId> workers_{WorkerId{0}, WorkerId{1}};
  const std::vector<WorkerId> second_{WorkerId{1}};
  SwitchHysteresis hysteresis_{options_};
  IterationForecast forecast_{{}, {}};
  Situation now_{.workers = workers_, .global_batch = kBatch};
};

TEST_F(SwitchHysteresisTest, ALookNeedsARoundAndTheLeastTimeAndTasksOfEveryWorker) {
  pass(1, 5);
  EXPECT_FALSE(is_due()) << "no task has ended";
  finish_tasks(options_.tasks_least);
  EXPECT_TRUE(is_due());
  const SwitchHysteresis::Stretch passed = hysteresis_.look(now_);
  EXPECT_DOUBLE_EQ(passed.seconds, 1);
  EXPECT_DOUBLE_EQ(passed.samples, 5 * kBatch);
  pass(0.15, 2);
  EXPECT_FALSE(is_due()) << "too little time";
  EXPECT_FALSE(hysteresis_.may_look(now_.now));
  pass(0.15, -1.5);
  EXPECT_FALSE(is_due()) << "half a round";
  pass(0, 1);
  EXPECT_TRUE(is_due());
}

TEST_F(SwitchHysteresisTest, SlowTrainingIsLookedAtAfterFewerTasks) {
  finish_tasks(options_.tasks_slow);
  pass(2.9, 2);
  EXPECT_FALSE(is_due());
  pass(0.2, 0);
  EXPECT_TRUE(is_due());
  hysteresis_.switched(now_);
  hysteresis_.members_changed();
  pass(4, 2);
  EXPECT_FALSE(is_due()) << "the first switch is over";
}

TEST_F(SwitchHysteresisTest, AnEarlyLookIsForTheTimeBeforeTheFirstSwitch) {
  pass(0.3, 0.5);
  EXPECT_TRUE(hysteresis_.is_due_early(now_, forecast_, false));
  EXPECT_FALSE(hysteresis_.is_due_early(now_, forecast_, false)) << "it has just looked";
  EXPECT_FALSE(hysteresis_.is_due_early(now_, forecast_, true)) << "no sum has been seen";
  pass(0.3, 0.5);
  hysteresis_.switched(now_);
  EXPECT_FALSE(hysteresis_.is_due_early(now_, forecast_, false));
}

TEST_F(SwitchHysteresisTest, AModeStaysForRoundsAndTimeUnlessAWorkerHangs) {
  pass(0.1, 3.9);
  EXPECT_FALSE(hysteresis_.may_leave(now_, false));
  pass(0, 0.2);
  EXPECT_TRUE(hysteresis_.may_leave(now_, false)) << "before the first switch rounds are enough";
  hysteresis_.switched(now_);
  pass(1.9, 20);
  EXPECT_FALSE(hysteresis_.may_leave(now_, false));
  EXPECT_TRUE(hysteresis_.may_leave(now_, true));
  pass(0.2, 0);
  EXPECT_TRUE(hysteresis_.may_leave(now_, false));
}

TEST_F(SwitchHysteresisTest, ScoringBecomesRareWhileTheSameWorkersStraggle) {
  std::vector<double> scored_s;
  for (int i = 0; i < 400; ++i) {
    pass(0.1, 1);
    if (hysteresis_.is_scoring_due(now_.now, second_, false)) {
      scored_s.push_back(0.1 * i);
    }
  }
  ASSERT_GE(scored_s.size(), 5u);
  EXPECT_NEAR(scored_s[1] - scored_s[0], 1, 0.11);
  EXPECT_NEAR(scored_s[2] - scored_s[1], 2, 0.11);
  EXPECT_NEAR(scored_s[4] - scored_s[3], 8, 0.11);
  EXPECT_NEAR(scored_s.back() - scored_s[scored_s.size() - 2], 8, 0.11) << "and no rarer";
  EXPECT_FALSE(hysteresis_.is_scoring_due(now_.now, second_, false));
  EXPECT_TRUE(hysteresis_.is_scoring_due(now_.now, second_, true)) << "an answer is awaited";
  pass(1.1, 1);
  EXPECT_TRUE(hysteresis_.is_scoring_due(now_.now, workers_, false)) << "other workers straggle";
}

}  // namespace
}  // namespace orrery
