#include "training/libtorch/lstm_predictor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/random.h"

namespace orrery {
namespace {

// A worker that is three times as slow for half of every 20 iterations; the quota's throttling
// shows it one iteration before.
IterationHistory waves(std::int32_t worker, int iterations, int shift) {
  Random random(static_cast<std::uint64_t>(worker) + 5);
  IterationHistory history{.worker = WorkerId{worker}};
  for (int i = 0; i < iterations; ++i) {
    const bool slow = (i + shift) % 20 >= 10, soon = (i + shift + 1) % 20 >= 10;
    const double took = (slow ? 0.09 : 0.03) * (1 + 0.03 * random.normal());
    history.samples.push_back({.worker = WorkerId{worker},
                               .task = i + 1,
                               .took = from_seconds(took),
                               .samples = 32,
                               .usage = {.cpu_share = slow ? 0.05 : 0.2,
                                         .throttled_share = soon ? 0.8 : 0.1,
                                         .in_bytes_per_s = 1e6 / took,
                                         .out_bytes_per_s = 1e6 / took}});
  }
  return history;
}

constexpr LstmPredictorOptions kSmall{
    .window = 20, .horizon = 8, .hidden = 16, .steps = 250, .rate = 5e-3};

const LstmPredictor& fitted() {
  static const auto predictor = [] {
    std::vector<IterationHistory> logged;
    for (int worker = 0; worker < 3; ++worker) logged.push_back(waves(worker, 300, 3 * worker));
    return fit_lstm_predictor(logged, kSmall).value();
  }();
  return *predictor;
}

std::vector<double> predicted(const LstmPredictor& predictor, const IterationHistory& history) {
  return const_cast<LstmPredictor&>(predictor).predict(history, 8);
}

TEST(LstmPredictor, BeatsSayingThatItStaysOnWavesItHasNotSeen) {
  const LstmPredictorFit& fit = fitted().fit();
  EXPECT_GT(fit.windows_held_out, 100);
  EXPECT_LT(fit.error, 0.5 * fit.error_of_last);
}

TEST(LstmPredictor, PredictsTheChange) {
  const auto history = waves(7, 207, 0);  // the next three are quick, then ten slow ones
  const auto times = predicted(fitted(), history);
  ASSERT_EQ(times.size(), 8U);
  EXPECT_LT(times[0] * 32, 0.05);
  EXPECT_GT(times[5] * 32, 0.06);
}

TEST(LstmPredictor, AnotherModelsTimesArePredictedInProportion) {
  auto history = waves(7, 207, 0);
  const auto times = predicted(fitted(), history);
  for (IterationSample& sample : history.samples) sample.took *= 10;
  const auto slower = predicted(fitted(), history);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(slower[i] / times[i], 10, 0.01);
}

TEST(LstmPredictor, SaysSomethingOfAShortHistoryAndNothingOfNone) {
  EXPECT_EQ(predicted(fitted(), waves(1, 1, 0)).size(), 8U);
  EXPECT_TRUE(predicted(fitted(), {}).empty());
}

TEST(LstmPredictor, IsTheSameAfterSavingAndLoading) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("orrery-predictor-" + std::to_string(::getpid()) + ".json");
  ASSERT_TRUE(fitted().save(path).ok());
  const auto loaded = load_lstm_predictor(path);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const auto history = waves(9, 60, 4);
  EXPECT_EQ(predicted(*loaded.value(), history), predicted(fitted(), history));
  EXPECT_EQ(loaded.value()->fit().error, fitted().fit().error);

  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string whole = text.str();
  for (const auto& damaged :
       {whole.substr(0, whole.size() / 2), std::string("{}"), std::string(),
        std::string(whole).replace(whole.find("\"hidden\":16"), 11, "\"hidden\":17"),
        std::string(whole).replace(whole.find("\"window\":20"), 11, "\"window\":-1")}) {
    std::ofstream(path) << damaged;
    const auto refused = load_lstm_predictor(path);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message.find(path.string()), 0U) << refused.error().message;
  }
  std::filesystem::remove(path);
}

TEST(LstmPredictor, SaysWhenThereIsTooLittleToLearnFrom) {
  const std::vector<IterationHistory> logged{waves(0, 30, 0)};
  EXPECT_EQ(fit_lstm_predictor(logged, kSmall).error().code, Code::FailedPrecondition);
  EXPECT_FALSE(fit_lstm_predictor({}, kSmall).ok());
}

}  // namespace
}  // namespace orrery
