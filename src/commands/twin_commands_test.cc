#include "commands/twin_commands.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "experiments/twin_fit/twin_model.h"
#include "training/mode_selection/director_by_name.h"
#include "training/twin/curves.h"

namespace orrery {
namespace {

std::string printed(const Status& status) {
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(status.ok()) << status.error().message;
  return text;
}

// Writes down what happens, as the trainer does.
class Logging final : public Director {
 public:
  Logging(std::unique_ptr<Director> inner, std::shared_ptr<std::string> log)
      : inner_(std::move(inner)), log_(std::move(log)) {}
  void on_iteration(const IterationSample& sample) override {
    *log_ += fmt::format("{},{},{},{},{}\n", seconds(sample.at), static_cast<int>(sample.worker),
                         seconds(sample.took), sample.samples, sample.staleness);
    inner_->on_iteration(sample);
  }
  void on_update(const UpdateSample& sample) override { inner_->on_update(sample); }
  void on_evaluation(const EvaluationSample& sample) override { inner_->on_evaluation(sample); }
  Mode direct(const Situation& situation) override { return inner_->direct(situation); }

 private:
  std::unique_ptr<Director> inner_;
  std::shared_ptr<std::string> log_;
};

TEST(TwinModel, WhatIsWrittenIsReadAgain) {
  const TwinModel model{.worker = {.fixed_s = 0.02, .per_sample_s = 0.1, .bytes_per_s = 1e7},
                        .shards = {.gradient_s = 0.003, .update_s = 0.001, .bytes_per_s = 1e8},
                        .parameter_bytes = 4e6,
                        .convergence = {.accuracy_last = 0.91, .plateau_cost = -0.001}};
  const std::string text = twin_model_text(model);
  const auto read = parse_twin_model(text, "model.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(twin_model_text(read.value()), text);
  EXPECT_EQ(read.value().convergence.plateau_cost, -0.001);
}

TEST(TwinModel, FaultsAreNamed) {
  const auto refused = [](const std::string& text) {
    const auto read = parse_twin_model(text, "model.json");
    return read.ok() ? std::string("read") : read.error().message;
  };
  EXPECT_NE(refused("[]").find("is no JSON object"), std::string::npos);
  EXPECT_NE(refused(R"({"jiter": 1})").find("did you mean 'jitter'?"), std::string::npos);
  EXPECT_NE(refused(R"({"jitter": "x"})").find("has to be a number"), std::string::npos);
  EXPECT_NE(refused(R"({"fixed_s": -1})").find("has to be a number from 0 on"), std::string::npos);
  EXPECT_NE(refused(R"({"power": 0})").find("above 0"), std::string::npos);
}

TEST(TwinCommands, ModesAreRunSideBySide) {
  TwinRunArguments arguments{.modes = {"ssgd", "star"},
                             .stragglers = ORRERY_SOURCE "/data/stragglers/one-slow.txt",
                             .target = 0.7,
                             .seeds = {1, 2},
                             .json = true};
  testing::internal::CaptureStdout();
  const auto runs = nlohmann::json::parse(printed(twin_run_command(arguments)))["runs"];
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_LT(runs[2]["time_to_target_s"].get<double>(),
            0.5 * runs[0]["time_to_target_s"].get<double>());
  arguments.json = false;
  testing::internal::CaptureStdout();
  const std::string table = printed(twin_run_command(arguments));
  EXPECT_NE(table.find("to target s"), std::string::npos);
  EXPECT_NE(table.find("\nstar "), std::string::npos);
}

TEST(TwinCommands, ACurveThatItWroteCanBeFitted) {
  const std::string curve =
      testing::TempDir() + "twin-curve-" + std::to_string(::getpid()) + ".csv";
  const std::string model =
      testing::TempDir() + "twin-model-" + std::to_string(::getpid()) + ".json";
  testing::internal::CaptureStdout();
  printed(twin_run_command({.modes = {"static-7"}, .steps = 20'000, .curve = curve}));
  testing::internal::CaptureStdout();
  const std::string text = printed(twin_fit_command({.curves = {curve}, .output = model}));
  EXPECT_NE(text.find("accuracy missed by 0.00"), std::string::npos) << text;
  const TwinModel fitted = parse_twin_model(read_word(model), model).value();
  EXPECT_NEAR(fitted.convergence.accuracy_last, 0.95, 0.05);
  ::unlink(curve.c_str());
  ::unlink(model.c_str());
}

// A folder as `reproduce star` leaves it, of a run that the twin itself made.
std::string made_run(const std::string& mode, double work_s, bool trusted) {
  const std::string folder =
      testing::TempDir() + "twin-check-" + std::to_string(::getpid()) + "/tta-made-ps-none-" + mode;
  std::filesystem::create_directories(folder + "-s1/run");
  TwinSetup setup;
  setup.workers.resize(4, {.fixed_s = work_s, .cores = 0.06});
  setup.conductor = {.global_batch = 512,
                     .rate = {.base = 0.1},
                     .samples_limit = 200'000,
                     .evaluate_every = 10'240,
                     .target_accuracy = 0.9};
  setup.convergence.scale_samples = 4'000;
  auto log = std::make_shared<std::string>("time_s,worker,took_s,samples,staleness\n");
  const TwinResult result = run_twin(
      setup, std::make_unique<Logging>(director_by_name(mode, 0, {.workers = 4}).value(), log));
  std::string curve = "time_s,samples,accuracy,loss\n";
  for (const TwinPoint& point : result.curve) {
    curve += fmt::format("{},{},{},{}\n", point.time_s, point.samples, point.accuracy, point.loss);
  }
  const auto write = [&](const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomically(folder + "-s1/" + name, text).ok());
  };
  write("run/iterations.csv", *log);
  write("run/curve.csv", curve);
  write("run/run.json", nlohmann::json{{"mode", mode},
                                       {"arch", "ps"},
                                       {"workers", 4},
                                       {"batch", 512},
                                       {"rate", 0.1},
                                       {"cores", 0.06},
                                       {"target", 0.9}}
                            .dump());
  write("result.json", nlohmann::json{{"time_to_target_s", result.time_to_target_s.value_or(-1)},
                                      {"updates", result.tally.counts.updates},
                                      {"mode_switches", 0},
                                      {"trusted", trusted}}
                           .dump());
  return folder + "-s1";
}

TEST(TwinCommands, RunsArePredictedFromOthersAndUntrustedOnesAreLeftOut) {
  const TwinCheckArguments arguments{
      .runs = {made_run("ssgd", 0.07, true), made_run("asgd", 0.07, true),
               made_run("static-3", 0.07, true), made_run("static-2", 0.07, false)},
      .fit = {"none-ssgd", "none-asgd"},
      .json = true};
  testing::internal::CaptureStdout();
  const auto said = nlohmann::json::parse(printed(twin_check_command(arguments)));
  ASSERT_EQ(said["runs"].size(), 3u);
  EXPECT_TRUE(said["runs"][0]["fitted"].get<bool>());
  EXPECT_EQ(said["runs"][2]["mode"], "static-3");
  EXPECT_EQ(said["runs"][2]["cell"], "tta-made-ps-none-s1");
  EXPECT_NEAR(said["runs"][2]["task_work_s"].get<double>(), 0.07, 0.004);
  EXPECT_EQ(said["interval_errors"]["runs"], 1);
  EXPECT_LT(said["interval_errors"]["worst"].get<double>(), 0.06);
  EXPECT_LT(said["time_to_target_errors"]["worst"].get<double>(), 0.1);
  ASSERT_EQ(said["left_out"].size(), 1u);
  EXPECT_NE(said["left_out"][0].get<std::string>().find("static-2"), std::string::npos);
  std::filesystem::remove_all(testing::TempDir() + "twin-check-" + std::to_string(::getpid()));
}

TEST(TwinCommands, WhatIsMissingIsAskedFor) {
  const auto refused = [](const TwinRunArguments& arguments) {
    const Status status = twin_run_command(arguments);
    return status.ok() ? std::string("ran") : status.error().message;
  };
  EXPECT_NE(refused({}).find("--target 0.9 or --steps"), std::string::npos);
  EXPECT_NE(refused({.target = 0.99}).find("this model ends at 0.950"), std::string::npos);
  EXPECT_NE(refused({.architecture = "tree", .target = 0.5}).find("ps or allreduce"),
            std::string::npos);
  EXPECT_NE(refused({.target = 0.5, .curve = "x.csv"}).find("one mode and one seed"),
            std::string::npos);
  EXPECT_NE(refused({.modes = {"sgd"}, .target = 0.5}).find("sgd"), std::string::npos);
  EXPECT_FALSE(twin_fit_command({.curves = {"not/there.csv"}}).ok());
}

}  // namespace
}  // namespace orrery
