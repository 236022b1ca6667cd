#include "cli/twin_commands.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/twin_model.h"
#include "twin/curves.h"

namespace orrery {
namespace {

std::string printed(const Status& status) {
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(status.ok()) << status.error().message;
  return text;
}

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
  const std::string told = printed(twin_fit_command({.curves = {curve}, .output = model}));
  EXPECT_NE(told.find("accuracy missed by 0.00"), std::string::npos) << told;
  const TwinModel fitted = parse_twin_model(read_word(model), model).value();
  EXPECT_NEAR(fitted.convergence.accuracy_last, 0.95, 0.05);
  ::unlink(curve.c_str());
  ::unlink(model.c_str());
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
