#include "training/mode_selection/stragglers/predictor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "training/mode_selection/stragglers/predictor_race.h"
#include "training/mode_selection/stragglers/predictor_score.h"

namespace orrery {
namespace {

IterationHistory series(const std::vector<double>& seconds_each, int worker = 0) {
  IterationHistory history{.worker = WorkerId(worker)};
  double now = 0;
  for (const double each : seconds_each) {
    now += each * 10;
    history.samples.push_back({.worker = WorkerId(worker),
                               .task = static_cast<std::int64_t>(history.samples.size()) + 1,
                               .at = time_from_seconds(now),
                               .took = from_seconds(each * 10),
                               .samples = 10});
  }
  return history;
}

TEST(Predictors, LastValueSaysItStays) {
  EXPECT_EQ(make_last_value_predictor()->predict(series({1, 2, 3}), 2),
            (std::vector<double>{3, 3}));
  EXPECT_TRUE(make_last_value_predictor()->predict({}, 2).empty());
}

TEST(Predictors, EwmaWeighsTheNewestMost) {
  const std::vector<double> predicted = make_ewma_predictor(0.5)->predict(series({1, 1, 3}), 3);
  ASSERT_EQ(predicted.size(), 3u);
  EXPECT_NEAR(predicted[0], 2, 1e-9);
  EXPECT_DOUBLE_EQ(predicted[2], predicted[0]);
}

TEST(Predictors, AutoregressionFollowsAWave) {
  std::vector<double> wave;
  for (int i = 0; i < 80; ++i) wave.push_back(2 + std::sin(0.5 * i));
  const std::vector<double> predicted = make_ar_predictor()->predict(series(wave), 6);
  for (int h = 0; h < 6; ++h) EXPECT_NEAR(predicted[h], 2 + std::sin(0.5 * (80 + h)), 0.1) << h;
}

TEST(Predictors, AutoregressionOfAConstantIsTheConstant) {
  const auto predicted = make_ar_predictor()->predict(series(std::vector<double>(50, 0.25)), 4);
  for (const double value : predicted) EXPECT_NEAR(value, 0.25, 1e-9);
}

TEST(Predictors, AutoregressionStaysNearWhatItHasSeen) {
  Random random(5);
  std::vector<double> growing;
  for (int i = 0; i < 60; ++i) growing.push_back(std::exp(0.1 * i) * (1 + 0.1 * random.uniform()));
  for (const double value : make_ar_predictor()->predict(series(growing), 100)) {
    EXPECT_LE(value, 1.6 * growing.back());
    EXPECT_GT(value, 0);
  }
}

TEST(PredictorRace, TheOneThatIsRightSpeaks) {
  std::vector<double> wave;
  for (int i = 0; i < 300; ++i) wave.push_back(2 + std::sin(0.5 * i));
  const IterationHistory whole = series(wave);
  const auto race = make_predictor_race();
  EXPECT_EQ(race->leader(), "last");
  IterationHistory seen{.worker = WorkerId(0)};
  for (const IterationSample& sample : whole.samples) {
    seen.samples.push_back(sample);
    race->add(seen);
  }
  EXPECT_EQ(race->leader(), "ar");
  EXPECT_LT(race->standings()[2].error, 0.5 * race->standings()[0].error);
  EXPECT_NEAR(race->predict(seen, 1)[0], 2 + std::sin(0.5 * 300), 0.1);
}

class Nonsense final : public IterationPredictor {
 public:
  std::string_view name() const override { return "nonsense"; }
  std::vector<double> predict(const IterationHistory&, int horizon) override {
    return std::vector<double>(static_cast<std::size_t>(horizon), std::nan(""));
  }
};

TEST(PredictorRace, NonsenseNeitherLeadsNorComesThrough) {
  std::vector<std::unique_ptr<IterationPredictor>> entrants;
  entrants.push_back(make_last_value_predictor());
  entrants.push_back(std::make_unique<Nonsense>());
  PredictorRace race(std::move(entrants));
  IterationHistory seen{.worker = WorkerId(0)};
  for (const IterationSample& sample : series(std::vector<double>(200, 1.0)).samples) {
    seen.samples.push_back(sample);
    race.add(seen);
  }
  EXPECT_EQ(race.leader(), "last");
  EXPECT_DOUBLE_EQ(race.standings()[1].error, 1);
}

// Worker 3 is slow for ten iterations of each twenty, as regular as a clock.
std::vector<IterationHistory> on_and_off() {
  std::vector<IterationHistory> workers;
  for (int w = 0; w < 4; ++w) {
    IterationHistory history{.worker = WorkerId(w)};
    for (int i = 0; i < 400; ++i) {
      const bool slow = w == 3 && i % 20 >= 10;
      history.samples.push_back({.worker = WorkerId(w),
                                 .task = 4 * i + w,
                                 .at = time_from_seconds(i + 0.01 * w),
                                 .took = from_seconds(slow ? 0.4 : 0.1),
                                 .samples = 10});
    }
    workers.push_back(history);
  }
  return workers;
}

// Knows the pattern: what a predictor could reach at best.
class Clairvoyant final : public IterationPredictor {
 public:
  std::string_view name() const override { return "clairvoyant"; }
  std::vector<double> predict(const IterationHistory& history, int horizon) override {
    std::vector<double> values;
    for (int h = 0; h < horizon; ++h) {
      const int i = static_cast<int>(history.samples.size()) + h;
      values.push_back(history.worker == WorkerId(3) && i % 20 >= 10 ? 0.04 : 0.01);
    }
    return values;
  }
};

TEST(PredictorScore, PersistenceLeadsByNothingAndForesightByAllItSees) {
  const auto last = make_last_value_predictor();
  Clairvoyant clairvoyant;
  const std::vector<IterationPredictor*> both = {last.get(), &clairvoyant};
  const auto scores = score_predictors(on_and_off(), both, {.horizon = 8});
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0].onsets, 19);
  EXPECT_DOUBLE_EQ(scores[0].lead_iterations, 0);
  EXPECT_LT(scores[0].recall(), 0.7);
  EXPECT_DOUBLE_EQ(scores[1].lead_iterations, 8);
  EXPECT_DOUBLE_EQ(scores[1].precision(), 1);
  EXPECT_DOUBLE_EQ(scores[1].recall(), 1);
  EXPECT_NEAR(scores[1].error, 0, 1e-9);
}

// Predicts straggling long before, and takes it back shortly before.
class Fickle final : public IterationPredictor {
 public:
  std::string_view name() const override { return "fickle"; }
  std::vector<double> predict(const IterationHistory& history, int horizon) override {
    std::vector<double> values = Clairvoyant().predict(history, horizon);
    for (std::size_t h = 0; h < 3; ++h) values[h] = 0.01;
    return values;
  }
};

TEST(PredictorScore, WhatIsTakenBackBeforeTheFactIsNoLead) {
  Fickle fickle;
  const std::vector<IterationPredictor*> one = {&fickle};
  const PredictorScore score = score_predictors(on_and_off(), one, {.horizon = 8}).front();
  EXPECT_DOUBLE_EQ(score.lead_iterations, 0);
  EXPECT_GT(score.true_positives, 0);
}

TEST(PredictorScore, WithoutStragglersThereIsNothingToMiss) {
  std::vector<IterationHistory> equal;
  for (int w = 0; w < 3; ++w) equal.push_back(series(std::vector<double>(60, 0.01), w));
  const auto last = make_last_value_predictor();
  const std::vector<IterationPredictor*> one = {last.get()};
  const PredictorScore score = score_predictors(equal, one).front();
  EXPECT_EQ(score.onsets, 0);
  EXPECT_DOUBLE_EQ(score.recall(), 1);
  EXPECT_DOUBLE_EQ(score.precision(), 1);
  EXPECT_GT(score.predicted, 0);
}

}  // namespace
}  // namespace orrery
