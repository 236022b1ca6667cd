#include "training/result/training_result.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TrainingResult full_result() {
  TrainingResult result{
      .time_to_target_s = 12.5,
      .final_accuracy = 0.91,
      .final_loss = 0.3,
      .best =
          EvaluatedVersion{
              .at_s = 11, .version = 40, .samples = 2560, .accuracy = 0.93, .loss = 0.25},
      .best_file = "run/checkpoint-best.orc",
      .training_s = 20,
      .wall_s = 23,
      .workers = 8,
      .worker_cpu_s = 1.5,
      .cpu_means = "cgroup-v1",
      .link_means = "tbf",
      .load = MachineLoad{.cores = 2,
                          .others = 0.1,
                          .starved = 0.02,
                          .overfull = 0.2,
                          .trusted = false,
                          .why = "busy"},
      .folder = "run"};
  result.tally = {.counts = {.tasks = 410,
                             .gradients = 400,
                             .updates = 100,
                             .dropped = 1,
                             .spoiled = 2,
                             .lost = 3,
                             .refused = 4,
                             .staleness_sum = 200,
                             .mode_switches = 5},
                  .deaths = 6,
                  .restarts = 7,
                  .refused_connections = 8,
                  .evaluations_skipped = 9,
                  .checkpoints = 10,
                  .rings_on_gpus = 11,
                  .limits_moved = 12,
                  .director_cpu_s = 0.25,
                  .warnings = {"a warning"},
                  .modes = {{.at_s = 1, .mode = "asgd", .reason = "faster"}},
                  .ended = "the target was reached"};
  return result;
}

TEST(TrainingResult, ReadsBackWhatItPrints) {
  const std::string json = training_result_json(full_result());
  const TrainingResult read = parse_training_result(json).value();
  EXPECT_EQ(training_result_json(read), json);
  EXPECT_EQ(read.tally.counts.staleness_sum, 200);
  EXPECT_EQ(read.injector(), "cpu cgroup-v1, link tbf");
  EXPECT_FALSE(read.trusted());
  EXPECT_EQ(read.task_cpu_s(), 0.03);
}

TEST(TrainingResult, WhatHasNoMeaningIsNull) {
  const std::string json = training_result_json({});
  for (const char* const key : {"time_to_target_s", "final_accuracy", "best", "worker_cpu_s",
                                "mean_staleness", "trusted", "machine", "failure", "folder"}) {
    EXPECT_NE(json.find("\"" + std::string(key) + "\":null"), std::string::npos) << key;
  }
  const TrainingResult read = parse_training_result(json).value();
  EXPECT_FALSE(read.time_to_target_s || read.final_accuracy || read.best || read.load);
  EXPECT_TRUE(read.trusted());
  EXPECT_EQ(read.injector(), "none");
}

TEST(TrainingResult, OtherTextIsRefused) {
  EXPECT_FALSE(parse_training_result("").ok());
  EXPECT_FALSE(parse_training_result("[]").ok());
  EXPECT_FALSE(parse_training_result("{\"done\":1}").ok());
}

TEST(TrainingResult, ValuesOfAnotherKindAreIgnored) {
  const auto read = parse_training_result(
      R"({"time_to_target_s":"soon","workers":[],"warnings":3,"modes":[1],"best":2,"machine":5})");
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read.value().time_to_target_s);
  EXPECT_EQ(read.value().workers, 0);
}

TEST(TrainingResult, TheTextNamesTheKeptModelAndABusyMachine) {
  TrainingResult result = full_result();
  result.target = 0.9;
  const std::string text = training_result_text(result);
  EXPECT_NE(text.find("kept in run/checkpoint-best.orc"), std::string::npos) << text;
  EXPECT_NE(text.find("reached 0.9 after 12.50 s"), std::string::npos) << text;
  EXPECT_NE(text.find("too busy"), std::string::npos) << text;
}

}  // namespace
}  // namespace orrery
