#include "live/forecast/forecast.h"

#include <gtest/gtest.h>

#include "live/forecast/test_situation.h"

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Forecast forecast_of(const TestSituation& situation, const ForecastOptions& options = {}) {
  auto found = make_forecast(situation.text(), options);
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? std::move(found).value() : Forecast();
}

TEST(Forecasts, AWaitingJobStartsWhenARunningOneIsDone) {
  TestSituation situation(1);
  const JobNumber first = situation.submit(4, minutes(10));
  const JobNumber second = situation.submit(2, minutes(5));
  situation.pass({});
  situation.pass(minutes(4));
  const Forecast forecast = forecast_of(situation);
  EXPECT_EQ(forecast.now, Time(minutes(4)));
  EXPECT_TRUE(forecast.is_whole);
  ASSERT_EQ(forecast.starts.size(), 1U);
  EXPECT_EQ(forecast.starts.at(second).at, Time(minutes(10)));
  EXPECT_EQ(forecast.starts.at(second).nodes, std::vector<std::string>{"n0"});
  EXPECT_EQ(forecast.ends,
            (std::map<JobNumber, Time>{{first, Time(minutes(10))}, {second, Time(minutes(15))}}));
}

TEST(Forecasts, OneMoreJobAndMoreNodesAreAsIfTheyWereThere) {
  TestSituation situation(1);
  situation.submit(4, hours(1));
  situation.pass({});
  const JobRequest more = TestSituation::job(4, minutes(30));
  const Forecast busy = forecast_of(situation, {.job = more});
  EXPECT_EQ(busy.more, 2);
  EXPECT_EQ(busy.starts.at(2).at, Time(hours(1)));
  const Forecast wider = forecast_of(situation, {.nodes_more = 1, .job = more});
  EXPECT_EQ(wider.starts.at(2).at, Time());
  EXPECT_EQ(wider.starts.at(2).nodes.front(), "one more like n0 (1)");
  // Nothing of it was kept.
  EXPECT_EQ(situation.core().book().next_number(), 2);
  EXPECT_TRUE(forecast_of(situation).starts.empty());
}

TEST(Forecasts, AnotherPolicyTakesOverFromWhatRuns) {
  TestSituation situation(1);
  const JobNumber longest = situation.submit(4, hours(10));
  const JobNumber shortest = situation.submit(4, minutes(1));
  situation.pass({});
  EXPECT_EQ(forecast_of(situation).starts.at(shortest).at, Time(hours(10)));
  const Forecast preempted = forecast_of(situation, {.policy = "srtf"});
  EXPECT_EQ(preempted.starts.at(shortest).at, Time());
  EXPECT_EQ(preempted.ends.at(longest), Time(hours(10) + minutes(1)));
}

TEST(Forecasts, DependenciesQuotasAndDrainingNodesBindAsTheyDo) {
  TestSituation situation(2);
  const JobNumber first = situation.submit(1, minutes(10));
  JobRequest next = TestSituation::job(1, minutes(1));
  next.after = {first};
  const JobNumber second = situation.submit(next);
  ASSERT_TRUE(situation.core()
                  .set_quota(situation.root(), {.tenant = "bob", .gpus = 2, .borrows = false},
                             situation.now())
                  .ok());
  JobRequest bobs = TestSituation::job(2, minutes(20));
  bobs.user = "bob";
  situation.submit(bobs);
  const JobNumber held = situation.submit(bobs);
  situation.pass({});
  ASSERT_TRUE(situation.core().drain(situation.root(), {.node = "n1"}, situation.now()).ok());
  situation.pass(seconds(1));
  const Forecast forecast = forecast_of(situation, {.job = TestSituation::job(4, minutes(1))});
  EXPECT_EQ(forecast.starts.at(second).at, Time(minutes(10)));
  EXPECT_EQ(forecast.starts.at(held).at, Time(minutes(20)));
  EXPECT_EQ(forecast.starts.at(forecast.more).nodes, std::vector<std::string>{"n0"});
}

TEST(Forecasts, AnOverdueJobIsGivenATenthMore) {
  TestSituation situation(1);
  const JobNumber late = situation.submit(4, minutes(10));
  const JobNumber next = situation.submit(4, minutes(10));
  situation.pass({});
  situation.pass(minutes(25));
  const Forecast forecast = forecast_of(situation);
  EXPECT_EQ(forecast.ends.at(late), Time(minutes(26)));
  EXPECT_EQ(forecast.starts.at(next).at, Time(minutes(26)));
}

TEST(Forecasts, ItEndsAtItsHorizonAndAfterItsLastStep) {
  TestSituation situation(1);
  for (int i = 0; i < 5; ++i) situation.submit(4, hours(1));
  situation.pass({});
  const Forecast soon = forecast_of(situation, {.horizon = minutes(150)});
  EXPECT_FALSE(soon.is_whole);
  EXPECT_EQ(soon.starts.size(), 2U);
  EXPECT_EQ(soon.until, Time(hours(2)));
  const Forecast few = forecast_of(situation, {.steps = 2});
  EXPECT_FALSE(few.is_whole);
  EXPECT_EQ(few.starts.size(), 1U);
  const Forecast starts = forecast_of(situation, {.starts_only = true});
  EXPECT_EQ(starts.starts.size(), 4U);
  EXPECT_EQ(starts.ends.size(), 4U);
  const auto predicted = predicted_starts(situation.text());
  ASSERT_TRUE(predicted.ok());
  EXPECT_EQ(predicted.value().at(5), Time(hours(4)));
}

TEST(Forecasts, WhatCannotBeIsSaid) {
  TestSituation none(0);
  EXPECT_EQ(make_forecast("no situation", {}).error().code, Code::DataLoss);
  const auto policy = make_forecast(none.text(), {.policy = "best"});
  ASSERT_FALSE(policy.ok());
  EXPECT_NE(policy.error().message.find("best"), std::string::npos);
  EXPECT_EQ(make_forecast(none.text(), {.nodes_more = 1}).error().code, Code::FailedPrecondition);
  EXPECT_FALSE(make_forecast(none.text(), {.job = JobRequest{.gpus = 0}}).ok());
  const Forecast never = forecast_of(none, {.job = TestSituation::job(1, minutes(1))});
  EXPECT_TRUE(never.is_whole);
  EXPECT_TRUE(never.starts.empty());
}

}  // namespace
}  // namespace orrery
