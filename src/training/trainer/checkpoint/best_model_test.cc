// What a run keeps of its best evaluation, by whole runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "training/trainer/fake_learner.h"
#include "training/trainer/test_run.h"

namespace orrery {
namespace {

using nlohmann::json;

double accuracy_of(const std::vector<float>& parameters) {
  const auto learner = make_fake_learner({.data = "line"}).value();
  EXPECT_TRUE(learner->set_parameters(parameters).ok());
  return learner->evaluate().value().accuracy;
}

class BestModel : public testing::TestWithParam<const char*> {};

TEST_P(BestModel, TheModelThatReachedTheTargetIsKeptAndNamed) {
  const TestFolder folder;
  const Outcome outcome = run_in(folder.run(), {"--arch", GetParam(), "--target", "0.9", "--steps",
                                                "100000", "--evaluate-every", "320"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["ended"], "the target was reached");
  const json& best = outcome.summary["best"];
  EXPECT_EQ(best["file"], best_checkpoint_path(folder.run()));
  // The mean of two evaluations is at the target, so one of them is.
  EXPECT_GE(best["accuracy"], 0.9);
  const auto kept = read_checkpoint(best_checkpoint_path(folder.run()));
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  ASSERT_TRUE(kept.value().judged);
  EXPECT_EQ(kept.value().judged->version, best["version"]);
  EXPECT_EQ(kept.value().judged->accuracy, best["accuracy"]);
  EXPECT_EQ(accuracy_of(kept.value().parameters), best["accuracy"]);
  EXPECT_GT(last_checkpoint(folder.run()).conductor.version, 0) << "the last is there as well";

  const TestRun judged =
      train({"evaluate", folder.run(), "--from", "best", "--json"}, folder.run());
  ASSERT_EQ(judged.exit_code, 0) << judged.errors;
  EXPECT_EQ(json::parse(judged.output)["accuracy"], best["accuracy"]);
  EXPECT_EQ(train({"evaluate", folder.run()}, folder.run()).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Architectures, BestModel, testing::Values("ps", "allreduce"));

struct KeptCase {
  const char* arch;
  const char* mode;
};
class EveryRun : public testing::TestWithParam<KeptCase> {};

TEST_P(EveryRun, KeepsItsLastAndItsBestCheckpoint) {
  const auto& [arch, mode] = GetParam();
  const bool plain = std::string(mode) == "zeno++";
  for (const char* const optimizer : {"sgd", "adam"}) {
    const TestFolder folder;
    const Outcome outcome =
        run_in(folder.run(), {"--arch", arch, "--mode", mode, "--optimizer", optimizer, "--steps",
                              "80", "--evaluate-every", "320", "--weight-decay", "0.001"});
    if (plain && std::string(optimizer) == "adam") {
      EXPECT_EQ(outcome.run.exit_code, 2);
      continue;
    }
    ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
    const Checkpoint last = last_checkpoint(folder.run());
    EXPECT_GE(last.conductor.samples_done, 80 / 4 * 64);
    EXPECT_EQ(last.conductor.version, outcome.summary["updates"].get<std::int64_t>());
    EXPECT_NEAR(last.optimizer_batches, static_cast<double>(last.conductor.samples_done) / 64,
                1e-6);
    const auto best = read_checkpoint(best_checkpoint_path(folder.run()));
    ASSERT_TRUE(best.ok()) << best.error().message;
    EXPECT_EQ(best.value().judged->accuracy, outcome.summary["best"]["accuracy"]);
    EXPECT_EQ(accuracy_of(best.value().parameters), best.value().judged->accuracy);
    EXPECT_GE(best.value().judged->accuracy, outcome.summary["final_accuracy"]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Runs, EveryRun,
    testing::Values(KeptCase{"ps", "ssgd"}, KeptCase{"ps", "asgd"}, KeptCase{"ps", "static-3"},
                    KeptCase{"ps", "ssp-2"}, KeptCase{"ps", "lgc-3"}, KeptCase{"ps", "zeno++"},
                    KeptCase{"ps", "dynamic"}, KeptCase{"ps", "lb-bsp"},
                    KeptCase{"ps", "sync-switch"}, KeptCase{"ps", "star"},
                    KeptCase{"allreduce", "ssgd"}, KeptCase{"allreduce", "ring-3"},
                    KeptCase{"allreduce", "ring-1"}, KeptCase{"allreduce", "dynamic"},
                    KeptCase{"allreduce", "lb-bsp"}, KeptCase{"allreduce", "star"}));

TEST(BestModel, ARunGoesOnFromItIfAsked) {
  const TestFolder folder;
  ASSERT_EQ(run_in(folder.run(), {"--steps", "200", "--evaluate-every", "640", "--momentum", "0.9"})
                .run.exit_code,
            0);
  const auto best = read_checkpoint(best_checkpoint_path(folder.run()));
  ASSERT_TRUE(best.ok());
  const TestRun rest =
      train({"run", "--resume", folder.run(), "--from", "best", "--steps", "400", "--json"},
            folder.run());
  ASSERT_EQ(rest.exit_code, 0) << rest.errors;
  const json summary = json::parse(rest.output);
  EXPECT_EQ(last_checkpoint(folder.run()).conductor.version,
            best.value().conductor.version + summary["updates"].get<std::int64_t>());
  EXPECT_EQ(last_checkpoint(folder.run()).conductor.samples_done, 400 / 4 * 64);
  EXPECT_GE(summary["best"]["accuracy"], best.value().judged->accuracy);
}

TEST(BestModel, FromTheBestWithoutOneSaysWhatIsMissing) {
  const TestFolder folder;
  const Outcome fresh = run_in(folder.run(), {"--steps", "4", "--from", "best"});
  EXPECT_EQ(fresh.run.exit_code, 2);
  EXPECT_NE(fresh.run.errors.find("--resume"), std::string::npos) << fresh.run.errors;
  const Outcome other = run_in(folder.run() + "2", {"--steps", "4", "--from", "first"});
  EXPECT_EQ(other.run.exit_code, 2);
  const TestRun judged = train({"evaluate", folder.path() + "/nowhere"}, folder.run());
  EXPECT_EQ(judged.exit_code, 1);
  EXPECT_NE(judged.errors.find("nowhere"), std::string::npos) << judged.errors;
}

}  // namespace
}  // namespace orrery
