#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "training/trainer/fake_learner.h"
#include "training/trainer/shard/flat_math.h"
#include "training/trainer/shard/flat_optimizer.h"
#include "training/trainer/test_run.h"

namespace orrery {
namespace {

using nlohmann::json;

constexpr std::int32_t kBatch = 64;

// What one process comes to that computes the same samples, part by part.
std::vector<float> one_process(int updates, int workers, const OptimizerOptions& options,
                               const std::string& name = "linear") {
  auto learner = make_fake_learner({.model = name, .data = "line"});
  Learner& model = *learner.value();
  std::vector<float> parameters(model.parameters().begin(), model.parameters().end());
  FlatOptimizer optimizer(options, parameters.size());
  const std::int32_t part = kBatch / workers;
  for (int update = 0; update < updates; ++update) {
    std::vector<float> sum(parameters.size());
    for (int worker = 0; worker < workers; ++worker) {
      EXPECT_TRUE(model.set_parameters(parameters).ok());
      const Samples samples{.first = std::int64_t{update} * kBatch + worker * part, .count = part};
      EXPECT_TRUE(model.compute(samples, 1, [] { return true; }).ok());
      add_weighted(sum, static_cast<double>(part) / kBatch, model.gradient());
    }
    optimizer.step(parameters, sum, 0.05);
  }
  return parameters;
}

TEST(Head, SynchronousWorkersComeToTheSameBitsAsOneProcess) {
  for (const char* const shards : {"1", "2"}) {
    const TestFolder folder;
    const Outcome outcome =
        run_in(folder.run(), {"--steps", "80", "--shards", shards, "--momentum", "0.9"});
    ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
    EXPECT_EQ(outcome.summary["updates"], 20);
    EXPECT_EQ(outcome.summary["gradients"], 80);
    EXPECT_EQ(outcome.summary["mean_staleness"], 0.0);
    const Checkpoint last = last_checkpoint(folder.run());
    EXPECT_EQ(last.parameters, one_process(20, 4, {.momentum = 0.9}));
    EXPECT_EQ(last.conductor.version, 20);
  }
}

TEST(Head, ARunThatWasStoppedAndResumedComesToTheSameBits) {
  for (const char* const optimizer : {"sgd", "adam"}) {
    const TestFolder whole, halves;
    const std::vector<std::string> with = {"--optimizer", optimizer, "--shards", "2"};
    auto long_run = with;
    long_run.insert(long_run.end(), {"--steps", "80"});
    auto half_run = with;
    half_run.insert(half_run.end(), {"--steps", "40"});
    ASSERT_EQ(run_in(whole.run(), long_run).run.exit_code, 0);
    ASSERT_EQ(run_in(halves.run(), half_run).run.exit_code, 0);
    const TestRun rest =
        train({"run", "--resume", halves.run(), "--steps", "80", "--quiet"}, halves.run());
    ASSERT_EQ(rest.exit_code, 0) << rest.errors;
    const Checkpoint a = last_checkpoint(whole.run());
    const Checkpoint b = last_checkpoint(halves.run());
    EXPECT_EQ(a.conductor.version, b.conductor.version);
    EXPECT_EQ(a.parameters, b.parameters);
    EXPECT_EQ(a.optimizer_state, b.optimizer_state);
    EXPECT_EQ(a.conductor.next_sample, b.conductor.next_sample);
  }
}

TEST(Head, ATargetEndsTheRun) {
  const TestFolder folder;
  const Outcome outcome =
      run_in(folder.run(), {"--target", "0.9", "--steps", "100000", "--evaluate-every", "320"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_GE(outcome.summary["final_accuracy"], 0.9);
  EXPECT_TRUE(outcome.summary["time_to_target_s"].is_number());
  EXPECT_EQ(outcome.summary["ended"], "the target was reached");
  EXPECT_EQ(outcome.summary["injector"], "none");
}

TEST(Head, ARunReportsTheCostOfModeSelection) {
  const TestFolder one, two;
  const Outcome star = run_in(one.run(), {"--mode", "star", "--steps", "2000"});
  const Outcome fixed = run_in(two.run(), {"--mode", "ssgd", "--steps", "2000"});
  ASSERT_EQ(star.run.exit_code, 0) << star.run.errors;
  EXPECT_GT(star.summary["director_cpu_s"], fixed.summary["director_cpu_s"]);
  EXPECT_GT(fixed.summary["director_cpu_s"], 0.0);
  for (const Outcome* const outcome : {&star, &fixed}) {
    // A worker has one thread that learns, and one process cannot be busier than that for long.
    EXPECT_GT(outcome->summary["worker_cpu_s"], 0.0);
    EXPECT_LT(outcome->summary["worker_cpu_s"], 1.1 * outcome->summary["training_s"].get<double>());
  }
}

TEST(Head, ZenoJudgesBySamplesThatNoWorkerTrainsOn) {
  for (const auto& [mode, asked] : {std::pair("zeno++", true), std::pair("asgd", false)}) {
    const TestFolder folder;
    const Outcome outcome = run_in(folder.run(), {"--mode", mode, "--steps", "400"});
    ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
    EXPECT_EQ(std::filesystem::exists(folder.run() + "/held-out"), asked) << mode;
  }
}

class EveryMode : public testing::TestWithParam<const char*> {};

TEST_P(EveryMode, GoesOnWhenAWorkerIsKilled) {
  const TestFolder folder;
  const Outcome outcome =
      run_in(folder.run(), {"--mode", GetParam(), "--data", "line:die@1500", "--steps", "400"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  const json& summary = outcome.summary;
  EXPECT_EQ(summary["deaths"], 1) << outcome.run.errors;
  EXPECT_EQ(summary["workers"], 3);
  // Its last one, and those that were under way when the run ended.
  EXPECT_GE(summary["lost"], 1);
  EXPECT_EQ(
      summary["tasks"].get<int>(),
      summary["gradients"].get<int>() + summary["dropped"].get<int>() + summary["lost"].get<int>());
  EXPECT_EQ(last_checkpoint(folder.run()).conductor.samples_done >= 400 / 4 * kBatch, true);
}

INSTANTIATE_TEST_SUITE_P(Head, EveryMode,
                         testing::Values("ssgd", "asgd", "static-3", "ssp-2", "lgc-3", "zeno++",
                                         "dynamic", "lb-bsp", "star"));

TEST(Head, AKilledWorkerIsReplacedIfAskedTo) {
  const TestFolder folder;
  const Outcome outcome =
      run_in(folder.run(), {"--data", "line:die@1500", "--steps", "4000", "--replace"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["deaths"], 1);
  EXPECT_EQ(outcome.summary["workers"], 4);
}

TEST(Head, AKilledShardSendsAllBackToTheNewestCheckpoint) {
  const TestFolder folder;
  const Outcome outcome = run_in(folder.run(), {"--data", "line:kill-shard@3000", "--steps", "400",
                                                "--checkpoint-every", "640", "--shards", "2"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["restarts"], 1);
  // Nothing of it shows in the result: synchronous training has gone over the same samples.
  EXPECT_EQ(last_checkpoint(folder.run()).parameters, one_process(100, 4, {}));
}

TEST(Head, AKilledEvaluatorIsStartedAgainAndNoEvaluationIsMissing) {
  const TestFolder folder;
  const Outcome outcome = run_in(folder.run(), {"--data", "line:kill-evaluator@1500", "--steps",
                                                "400", "--evaluate-every", "640"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  std::ifstream curve(folder.run() + "/curve.csv");
  std::string line;
  int lines = 0;
  while (std::getline(curve, line)) ++lines;
  EXPECT_EQ(lines + outcome.summary["evaluations_skipped"].get<int>(), 1 + 10);
}

TEST(Head, AKilledHeadLeavesARunThatCanBeResumed) {
  const TestFolder folder;
  const Outcome outcome = run_in(folder.run(), {"--data", "line:kill-head@3000", "--steps", "400",
                                                "--checkpoint-every", "640"});
  EXPECT_NE(outcome.run.exit_code, 0);
  const TestRun rest = train({"run", "--resume", folder.run(), "--quiet"}, folder.run());
  ASSERT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_EQ(last_checkpoint(folder.run()).parameters, one_process(100, 4, {}));
}

// Neither dead nor alive: it computes for ever. SSGD alone would wait for it until the time is up.
TEST(Head, AFrozenWorkerDoesNotStopTrainingUnderStar) {
  for (const char* const when : {"line:freeze@3", "line:freeze@9000"}) {
    const TestFolder folder;
    const Outcome outcome = run_in(
        folder.run(), {"--mode", "star", "--data", when, "--steps", "2000", "--time-limit", "60s"});
    ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
    EXPECT_EQ(outcome.summary["ended"], "as many samples as asked for were used");
    EXPECT_LT(outcome.summary["training_s"], 55.0);
    EXPECT_GE(outcome.summary["lost"], 1) << "what it had is lost with it";
  }
}

TEST(Head, AGradientThatIsNotFiniteIsThrownAwayAndCounted) {
  const TestFolder folder;
  const Outcome outcome = run_in(folder.run(), {"--data", "line:nan@1500", "--steps", "400"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["spoiled"], 1);
  EXPECT_EQ(outcome.summary["deaths"], 0);
  for (const float value : last_checkpoint(folder.run()).parameters) {
    EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(Head, ARunThatComesApartEndsAndNamesTheCause) {
  const TestFolder folder;
  const Outcome outcome = run_in(folder.run(), {"--rate", "1e30", "--steps", "100000",
                                                "--spoiled-most", "20", "--time-limit", "60s"});
  EXPECT_EQ(outcome.run.exit_code, 1);
  for (const char* const part : {"20 gradients in a row", "rate of 1e+30", "lower --rate"}) {
    EXPECT_NE(outcome.run.errors.find(part), std::string::npos) << outcome.run.errors;
  }
  EXPECT_EQ(std::ranges::count(outcome.run.errors, '\n'), 1) << outcome.run.errors;
  EXPECT_NE(outcome.summary["ended"].get<std::string>().find("could not be used"),
            std::string::npos);
  EXPECT_EQ(outcome.summary["failure"], outcome.summary["ended"]);
  EXPECT_EQ(newest_checkpoint(folder.run()).error().code, Code::NotFound)
      << "nothing goes on from parameters that have come apart";
}

TEST(Head, AWorkerThatIsAskedToGoesAfterItsTask) {
  const TestFolder folder;
  const Outcome outcome = run_in(folder.run(), {"--data", "line:term@1500", "--steps", "400"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["deaths"], 0);
  EXPECT_EQ(outcome.summary["lost"], 0);
  EXPECT_EQ(outcome.summary["workers"], 3);
}

// A run in which the shard's link takes most of the time, whatever the machine does.
Outcome run_on_narrow_link(const std::string& folder, const std::vector<std::string>& more) {
  std::vector<std::string> with = {"--model",      "wide",   "--link",       "1000000",
                                   "--shard-link", "350000", "--link-means", "token-bucket",
                                   "--cpu-means",  "none",   "--steps",      "112"};
  with.insert(with.end(), more.begin(), more.end());
  return run_in(folder, with);
}

bool had_tree(const Outcome& outcome) {
  return std::ranges::any_of(outcome.summary["modes"], [](const json& change) {
    return change["mode"].get<std::string>().starts_with("ssgd+tree-") &&
           change["reason"].get<std::string>().find("hand in") != std::string::npos;
  });
}

TEST(TreeRun, AnOverloadedLinkGetsOneAndEveryGradientIsUsedOnce) {
  const TestFolder folder;
  const Outcome outcome = run_on_narrow_link(folder.run(), {});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_TRUE(had_tree(outcome)) << outcome.summary["modes"];
  EXPECT_EQ(outcome.summary["gradients"], 112);
  EXPECT_EQ(outcome.summary["updates"], 28);
  EXPECT_EQ(outcome.summary["lost"].get<int>() + outcome.summary["spoiled"].get<int>(), 0);
  EXPECT_EQ(outcome.summary["mean_staleness"], 0.0);
  const Checkpoint last = last_checkpoint(folder.run());
  const auto alone = one_process(28, 4, {}, "wide");
  ASSERT_EQ(last.parameters.size(), alone.size());
  // A parent adds up before the shard does, so it is the same but for rounding.
  for (std::size_t i = 0; i < alone.size(); ++i) ASSERT_NEAR(last.parameters[i], alone[i], 1e-4);
}

// In the 24th update: one task is a parent's and one a child's if there is a tree.
class InATree : public testing::TestWithParam<const char*> {};

TEST_P(InATree, ADeathDoesNotHoldUpTheOthers) {
  const TestFolder folder;
  const Outcome outcome = run_on_narrow_link(folder.run(), {"--data", GetParam()});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_TRUE(had_tree(outcome)) << outcome.summary["modes"];
  EXPECT_EQ(outcome.summary["deaths"], 1);
  EXPECT_EQ(outcome.summary["workers"], 3);
  EXPECT_EQ(outcome.summary["tasks"].get<int>(), outcome.summary["gradients"].get<int>() +
                                                     outcome.summary["dropped"].get<int>() +
                                                     outcome.summary["lost"].get<int>());
}

INSTANTIATE_TEST_SUITE_P(TreeRun, InATree, testing::Values("line:die@1475", "line:die@1528"));

TEST(Head, DataIsLookedForBesideTheWorkingDirectory) {
  const TestFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directories(folder.path() + "/build/data");
  std::filesystem::current_path(folder.path());
  const Outcome found = run_in(folder.path() + "/found", {"--steps", "4"});
  const Outcome named =
      run_in(folder.path() + "/named", {"--steps", "4", "--data-folder", "elsewhere"});
  std::filesystem::current_path(before);
  ASSERT_EQ(found.run.exit_code, 0) << found.run.errors;
  const auto folder_in = [](const std::string& run) {
    return json::parse(std::ifstream(run + "/run.json"))["learner"]["data_folder"];
  };
  EXPECT_EQ(folder_in(folder.path() + "/found"), folder.path() + "/build/data");
  EXPECT_EQ(folder_in(folder.path() + "/named"), "elsewhere");
}

TEST(Head, ARunThatNeverTrainedLeavesItsFolderToTheNextOne) {
  const TestFolder folder;
  ASSERT_EQ(run_in(folder.run(), {"--steps", "8", "--data", "iris"}).run.exit_code, 2);
  const Outcome corrected = run_in(folder.run(), {"--steps", "8"});
  EXPECT_EQ(corrected.run.exit_code, 0) << corrected.run.errors;
  const Outcome again = run_in(folder.run(), {"--steps", "8"});
  EXPECT_EQ(again.run.exit_code, 2) << "now it holds one";
}

TEST(Head, BadCallsSayWhatToWriteInstead) {
  const TestFolder folder;
  for (const auto& [flag, value] :
       {std::pair("--arch", "tree"), std::pair("--mode", "fast"), std::pair("--mode", "ring-2"),
        std::pair("--batch", "2"), std::pair("--target", "80"), std::pair("--optimizer", "sdg"),
        std::pair("--selector", "best"), std::pair("--tree", "often"),
        std::pair("--data", "iris")}) {
    const Outcome outcome = run_in(folder.run() + flag, {"--steps", "10", flag, value});
    EXPECT_EQ(outcome.run.exit_code, 2) << flag;
    EXPECT_NE(outcome.run.errors.find(flag), std::string::npos) << outcome.run.errors;
  }
}

}  // namespace
}  // namespace orrery
