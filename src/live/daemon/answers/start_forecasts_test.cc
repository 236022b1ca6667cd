#include "live/daemon/answers/start_forecasts.h"

#include <gtest/gtest.h>

#include <future>

namespace orrery {
namespace {

StatusAnswer waiting(JobNumber id) { return {.jobs = {{.id = id}}}; }
Time at(int s) { return Time(std::chrono::seconds(s)); }

// A prediction that ends when the test allows it.
class Oracle {
 public:
  Result<StartForecasts::Starts> ask(const std::string& situation) {
    ++asked;
    asked_about = situation;
    let.get_future().wait();
    if (fails) return invalid("it is all a mist");
    return StartForecasts::Starts{{7, at(40)}};
  }
  StartForecasts::Predict predict() {
    return [this](const std::string& situation) { return ask(situation); };
  }

  std::promise<void> let;
  std::atomic<int> asked = 0;
  std::string asked_about;
  bool fails = false;
};

class Answer {
 public:
  Reply<StatusAnswer> reply() {
    return [this](Result<StatusAnswer> answer) { promise_.set_value(std::move(answer)); };
  }
  std::optional<double> start() {
    const Result<StatusAnswer> answer = promise_.get_future().get();
    EXPECT_TRUE(answer.ok());
    return answer.value().jobs.front().predicted_start_s;
  }

 private:
  std::promise<Result<StatusAnswer>> promise_;
};

TEST(StartForecasts, CallersInTheMeantimeGetTheSameAnswer) {
  Oracle oracle;
  const auto forecasts = StartForecasts::make(oracle.predict());
  Answer first;
  Answer second;
  Answer other;
  ASSERT_TRUE(forecasts->wants_situation(at(10)));
  EXPECT_FALSE(forecasts->wants_situation(at(10)));
  forecasts->fill(waiting(7), 1000, std::nullopt, second.reply());
  forecasts->fill(waiting(7), 1000, "as it is", first.reply());
  forecasts->fill(waiting(8), 1000, std::nullopt, other.reply());
  oracle.let.set_value();
  EXPECT_EQ(first.start(), 1040);
  EXPECT_EQ(second.start(), 1040);
  EXPECT_EQ(other.start(), std::nullopt);
  EXPECT_EQ(oracle.asked, 1);
  EXPECT_EQ(oracle.asked_about, "as it is");
}

TEST(StartForecasts, AnAnswerHoldsForASecondAndNoLonger) {
  Oracle oracle;
  const auto forecasts = StartForecasts::make(oracle.predict());
  ASSERT_TRUE(forecasts->wants_situation(at(10)));
  Answer first;
  oracle.let.set_value();
  forecasts->fill(waiting(7), 0, "", first.reply());
  EXPECT_EQ(first.start(), 40);
  EXPECT_FALSE(forecasts->wants_situation(at(11) - Duration(1)));
  Answer again;
  forecasts->fill(waiting(7), 0, std::nullopt, again.reply());
  EXPECT_EQ(again.start(), 40);
  EXPECT_TRUE(forecasts->wants_situation(at(11)));
}

TEST(StartForecasts, WhereNothingCanBePredictedTheAnswerStaysAsItIs) {
  Oracle oracle;
  oracle.fails = true;
  oracle.let.set_value();
  const auto forecasts = StartForecasts::make(oracle.predict());
  ASSERT_TRUE(forecasts->wants_situation(at(1)));
  Answer answer;
  forecasts->fill(waiting(7), 0, "", answer.reply());
  EXPECT_EQ(answer.start(), std::nullopt);
  const auto none = StartForecasts::make({});
  EXPECT_FALSE(none->wants_situation(at(1)));
  Answer plain;
  none->fill(waiting(7), 0, std::nullopt, plain.reply());
  EXPECT_EQ(plain.start(), std::nullopt);
}

}  // namespace
}  // namespace orrery
