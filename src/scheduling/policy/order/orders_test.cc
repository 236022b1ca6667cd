#include "scheduling/policy/order/orders.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scheduling/policy/order/policies.h"
#include "scheduling/policy/published/makers.h"
#include "scheduling/policy/test_view.h"

namespace orrery {
namespace {

// Which of two jobs goes first. Each test makes the second one win, so that none passes by id.
int winner(const Order& order, const View& view) {
  return order.rank(view, JobId{1}) < order.rank(view, JobId{0}) ? 1 : 0;
}

TEST(Fifo, TheEarlierGoesFirst) {
  TestView jobs;
  jobs.add(5, 1);
  jobs.add(3, 100);
  EXPECT_EQ(winner(*make_fifo(), jobs.at(9)), 1);
}

TEST(Fifo, OfOneInstantTheSmallerIdGoesFirst) {
  TestView jobs;
  jobs.add(5, 100);
  jobs.add(5, 1);
  EXPECT_EQ(winner(*make_fifo(), jobs.at(9)), 0);
}

TEST(Sjf, TheShorterGoesFirstWhateverIsLeft) {
  TestView jobs;
  jobs.add(0, 100);
  jobs.add(1, 50);
  jobs.job(0).work_left = 2;
  EXPECT_EQ(winner(*make_sjf(), jobs.at(9)), 1);
}

TEST(Srtf, TheJobWithLessLeftGoesFirst) {
  TestView jobs;
  jobs.add(0, 50);
  jobs.add(1, 100);
  jobs.job(1).work_left = 49;
  EXPECT_EQ(winner(*make_srtf({}), jobs.at(9)), 1);
}

TEST(Srtf, GpusDoNotCountButInSrsf) {
  TestView jobs;
  jobs.add(0, 50, 8);
  jobs.add(0, 60, 1);
  EXPECT_EQ(winner(*make_srtf({}), jobs.at(9)), 0);
  EXPECT_EQ(winner(*make_srtf({.by_service = true}), jobs.at(9)), 1);
}

TEST(Srtf, TheStartUpAheadCounts) {
  TestView jobs;
  jobs.add(0, 50, 1, 20);
  jobs.add(0, 60, 1, 5);
  EXPECT_EQ(winner(*make_srtf({.count_start = true}), jobs.at(9)), 1);
  EXPECT_EQ(winner(*make_srtf({.count_start = false}), jobs.at(9)), 0);
}

TEST(Srtf, OfARunningJobOnlyTheRestOfItsStartUpCounts) {
  TestView jobs;
  jobs.add(0, 57, 1, 0);
  jobs.add(0, 50, 1, 20);
  jobs.run(1, 0, 15);
  EXPECT_DOUBLE_EQ(make_srtf({})->rank(jobs.at(9), JobId{1}).key, 56);
  EXPECT_EQ(winner(*make_srtf({}), jobs.at(9)), 1);
  EXPECT_DOUBLE_EQ(make_srtf({})->rank(jobs.at(30), JobId{1}).key, 50);
}

class LasTest : public testing::Test {
 protected:
  void use(const LasOptions& options) { order = make_las(options); }
  // Counts the time to start as service, and looks at whole seconds.
  void use_published(const std::string& limits) {
    const std::map<std::string, std::string> given = {{"limits", limits}};
    const Options options(kLasPolicy.options, {}, given);
    auto made = las_order_of_muri(options, {.workload = jobs.workload}, CountedSpeed::Measured);
    order = std::move(made).value();
  }
  void arrive(int id) { order->arrived(jobs.at(0), static_cast<JobId>(id)); }
  void start(int id, double at_s) {
    order->started(jobs.at(at_s), static_cast<JobId>(id));
    jobs.run(id, at_s);
  }
  void stop(int id, double at_s) {
    order->stopped(jobs.at(at_s), static_cast<JobId>(id));
    jobs.pause(id, at_s);
  }
  std::vector<JobId> refresh(double at_s) {
    std::vector<JobId> changed;
    order->refresh(jobs.at(at_s), changed);
    return changed;
  }
  std::vector<int> line(double at_s) {
    const View view = jobs.at(at_s);
    std::vector<int> ids;
    for (std::size_t i = 0; i < view.jobs.size(); ++i) ids.push_back(static_cast<int>(i));
    std::ranges::sort(ids, {}, [&](int id) { return order->rank(view, static_cast<JobId>(id)); });
    return ids;
  }

  TestView jobs;
  std::unique_ptr<Order> order =
      make_las({.limits = {std::chrono::seconds(100), std::chrono::seconds(300)}});
};

TEST_F(LasTest, AJobSinksWhenItsGpuTimeReachesTheLimit) {
  jobs.add(0, 1e6, 4);
  arrive(0);
  start(0, 0);
  EXPECT_EQ(order->next_change(jobs.at(0)), time_from_seconds(25));
  EXPECT_TRUE(refresh(24.999).empty());
  EXPECT_EQ(refresh(25), std::vector{JobId{0}});
  start(0, 25);
  jobs.run(0, 0);
  EXPECT_EQ(order->next_change(jobs.at(25)), time_from_seconds(75));
  EXPECT_EQ(refresh(75), std::vector{JobId{0}});
  start(0, 75);
  EXPECT_EQ(order->next_change(jobs.at(75)), kNever) << "the last level has no end";
}

TEST_F(LasTest, AJobThatHasSunkIsBehindAllThatHaveNot) {
  jobs.add(0, 1e6);
  jobs.add(1, 1e6);
  arrive(0);
  start(0, 0);
  arrive(1);
  EXPECT_EQ(line(50), (std::vector{0, 1}));
  refresh(100);
  EXPECT_EQ(line(100), (std::vector{1, 0}));
}

TEST_F(LasTest, InALevelRunningJobsComeBeforeWaitingOnes) {
  for (int i = 0; i < 3; ++i) {
    jobs.add(0, 1e6);
    arrive(i);
  }
  start(2, 0);
  EXPECT_EQ(line(1), (std::vector{2, 0, 1}));
  start(1, 1);
  EXPECT_EQ(line(2), (std::vector{2, 1, 0}));
}

TEST_F(LasTest, AStoppedJobGoesToTheHeadOfTheWaitingOnes) {
  for (int i = 0; i < 3; ++i) {
    jobs.add(0, 1e6);
    arrive(i);
  }
  start(2, 0);
  stop(2, 5);
  EXPECT_EQ(line(5), (std::vector{2, 0, 1}));
}

TEST_F(LasTest, AStoppedJobGoesOnFromTheServiceItHad) {
  jobs.add(0, 1e6);
  arrive(0);
  start(0, 0);
  stop(0, 60);
  EXPECT_TRUE(refresh(200).empty()) << "what was expected of the first run is off";
  start(0, 200);
  EXPECT_EQ(order->next_change(jobs.at(200)), time_from_seconds(240));
}

TEST_F(LasTest, AJobThatWaitedLongEnoughStartsOver) {
  use({.limits = {std::chrono::seconds(100)}, .promote = 2});
  jobs.add(0, 1e6);
  jobs.add(0, 1e6);
  arrive(0);
  arrive(1);
  start(0, 0);
  refresh(100);
  stop(0, 100);
  EXPECT_EQ(order->next_change(jobs.at(100)), time_from_seconds(300));
  EXPECT_EQ(refresh(300), std::vector{JobId{0}});
  start(0, 300);
  EXPECT_EQ(order->next_change(jobs.at(300)), time_from_seconds(400)) << "and sinks again";
  EXPECT_EQ(line(300), (std::vector{0, 1}));
}

TEST_F(LasTest, AJobThatIsStartedTwiceSinksOnce) {
  use_published("100s,200s");
  jobs.add(0, 1e6);
  arrive(0);
  start(0, 0);
  start(0, 0);
  EXPECT_EQ(refresh(100).size(), 1u);
}

TEST_F(LasTest, AJobThroughTwoLevelsBetweenRoundsIsDueAtOnce) {
  use_published("10s,20s");
  jobs.add(0, 1e6);
  arrive(0);
  start(0, 0);
  EXPECT_EQ(refresh(45).size(), 1u);
  order->started(jobs.at(45), JobId{0});
  EXPECT_EQ(order->next_change(jobs.at(45)), time_from_seconds(45));
  EXPECT_EQ(refresh(45).size(), 1u);
}

TEST_F(LasTest, ManyGpusForALongTimeDoNotOverflow) {
  use_published("876000h");
  jobs.add(0, 1e9, 10'000);
  arrive(0);
  start(0, 0);
  const double reached_s = 100 * 365 * 86400.0 / 10'000;
  EXPECT_TRUE(refresh(reached_s - 2).empty());
  EXPECT_EQ(refresh(20 * reached_s).size(), 1u);
}

TEST(Gittins, TheIndexIsTheChanceToEndSoonForEachSecondItTakes) {
  // Services 10, 10, 1000 and a look ahead of 20: from 0 two of three end, and 10 + 10 + 20 seconds
  // are spent; from 20 no job of one ends within 20.
  const auto order = make_gittins({.services = {1000, 10, 10}, .delta = std::chrono::seconds(20)});
  TestView jobs;
  jobs.add(0, 1e6);
  order->arrived(jobs.at(0), JobId{0});
  EXPECT_DOUBLE_EQ(order->rank(jobs.at(0), JobId{0}).key, -2.0 / 40);
  order->started(jobs.at(0), JobId{0});
  jobs.run(0, 0);
  std::vector<JobId> changed;
  order->refresh(jobs.at(20), changed);
  EXPECT_EQ(changed, std::vector{JobId{0}});
  EXPECT_DOUBLE_EQ(order->rank(jobs.at(20), JobId{0}).key, 0);
}

TEST(Gittins, LearnsFromJobsThatFinish) {
  const auto order = make_gittins({.services = {}, .delta = std::chrono::seconds(20)});
  TestView jobs;
  for (int i = 0; i < 17; ++i) jobs.add(0, 10);
  for (int i = 0; i < 17; ++i) order->arrived(jobs.at(0), static_cast<JobId>(i));
  EXPECT_DOUBLE_EQ(order->rank(jobs.at(0), JobId{16}).key, 0) << "least service first until then";
  for (int i = 0; i < 16; ++i) {
    jobs.job(i).state = JobState::Done;
    jobs.job(i).attained = jobs.job(i).worked = std::chrono::seconds(10);
    jobs.ended.push_back(static_cast<JobId>(i));
  }
  std::vector<JobId> changed;
  order->refresh(jobs.at(50), changed);
  EXPECT_EQ(changed, std::vector{JobId{16}});
  EXPECT_DOUBLE_EQ(order->rank(jobs.at(50), JobId{16}).key, -16.0 / 160);
}

}  // namespace
}  // namespace orrery
