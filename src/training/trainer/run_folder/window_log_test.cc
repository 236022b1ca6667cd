#include "training/trainer/run_folder/window_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "training/trainer/run_folder/experience.h"
#include "training/trainer/run_folder/run_log.h"
#include "training/trainer/test_run.h"

namespace orrery {
namespace {

SelectorSample window(double at_s, double drop) {
  return {.features = {.kind = 1,
                       .x_share = 1.0 / 3,
                       .unequal_shares = 1,
                       .gradients_ratio = 9.1,
                       .staleness = 7,
                       .straggling = 0.1,
                       .noise_ratio = 1e-17,
                       .rate = 0.05,
                       .phase = 0.7,
                       .compute_share = 0.2},
          .loss_drop = drop,
          .lambda = 0.025,
          .ssgd_batch_s = 0.6,
          .at = time_from_seconds(at_s)};
}

std::string log_of(const std::string& lines) { return window_columns() + "\n" + lines; }
const std::string kGood = "1.5,1,0.5,1,2,7,0.1,0,0.05,1,0.2,0.6,0.025,-0.001\n";

TEST(WindowLog, WhatIsReadIsWhatWasWritten) {
  const SelectorSample first = window(1.25, -1.0 / 7), second = window(2.5, 1e-9);
  const auto read = parse_windows(log_of(window_line(first) + "\n" + window_line(second) + "\n"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read.value().size(), 2u);
  EXPECT_EQ(window_line(read.value()[0]), window_line(first));
  EXPECT_EQ(read.value()[0].loss_drop, -1.0 / 7);
  EXPECT_EQ(read.value()[0].features.x_share, 1.0 / 3);
  EXPECT_EQ(read.value()[0].at, first.at);
  EXPECT_EQ(read.value()[1].ssgd_batch_s, 0.6);
  EXPECT_EQ(read.value()[1].lambda, 0.025);
}

TEST(WindowLog, HalfALineAtTheEndIsWhereARunWasKilled) {
  for (const std::string& half : {kGood.substr(0, 9), kGood.substr(0, kGood.size() - 1)}) {
    const auto read = parse_windows(log_of(kGood + half));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read.value().size(), 1u) << "the last number may be cut off, and still be one";
  }
  EXPECT_TRUE(parse_windows("").ok());
  EXPECT_TRUE(parse_windows(window_columns().substr(0, 5)).ok());
}

TEST(WindowLog, WhatIsNoWindowIsRefusedWithItsLineAndColumn) {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"a,b\n", "time_s"},
      {"\n", "time_s"},
      {"-1,1,0.5,1,2,7,0.1,0,0.05,1,0.2,0.6,0.025,-0.001\n", "time_s"},
      {"1e300,1,0.5,1,2,7,0.1,0,0.05,1,0.2,0.6,0.025,-0.001\n", "time_s"},
      {"1.5,1.5,0.5,1,2,7,0.1,0,0.05,1,0.2,0.6,0.025,-0.001\n", "kind"},
      {"1.5,5,0.5,1,2,7,0.1,0,0.05,1,0.2,0.6,0.025,-0.001\n", "kind"},
      {"1.5,1,0.5,2,2,7,0.1,0,0.05,1,0.2,0.6,0.025,-0.001\n", "unequal_shares"},
      {"1.5,1,0.5,1,inf,7,0.1,0,0.05,1,0.2,0.6,0.025,-0.001\n", "gradients_ratio"},
      {"1.5,1,0.5,1,2,-7,0.1,0,0.05,1,0.2,0.6,0.025,-0.001\n", "staleness"},
      {"1.5,1,0.5,1,2,7,0.1,0,0.05,1,0.2,0,0.025,-0.001\n", "ssgd_batch_s"},
      {"1.5,1,0.5,1,2,7,0.1,0,0.05,1,0.2,0.6,0.025,nan\n", "loss_drop"},
      {"1.5,1,0.5,1,2,7,0.1,0,0.05,1,0.2,0.6,0.025\n", "loss_drop"},
      {"1.5,1,0.5,1,2,7,0.1,0,0.05,1,0.2,0.6,0.025,-0.001,3\n", "more"},
  };
  for (const auto& [bad, what] : all) {
    for (const std::string& after : {kGood, std::string()}) {
      const auto read = parse_windows(log_of(kGood + bad + after));
      ASSERT_FALSE(read.ok()) << bad;
      EXPECT_NE(read.error().message.find("line 3: "), std::string::npos) << read.error().message;
      EXPECT_NE(read.error().message.find(what), std::string::npos) << read.error().message;
    }
  }
  EXPECT_FALSE(parse_windows("time_s,worker\n").ok());
}

TEST(WindowLog, AResumedRunWritesInPlaceOfTheHalfLine) {
  const TestFolder folder;
  std::ofstream(folder.path() + "/windows.csv") << log_of(kGood + kGood.substr(0, 9));
  {
    auto log = RunLog::open(folder.path());
    ASSERT_TRUE(log.ok());
    log.value()->window(window(2, 0.5));
    const auto read = read_windows(folder.path());
    ASSERT_TRUE(read.ok()) << read.error().message;
    ASSERT_EQ(read.value().size(), 2u) << "it is there before the run ends";
    EXPECT_EQ(read.value().back().loss_drop, 0.5);
  }
}

TEST(RunLog, ThePointsOfTheCurveHaveAllItsColumns) {
  const TestFolder folder;
  auto log = RunLog::open(folder.path());
  ASSERT_TRUE(log.ok());
  log.value()->curve({.at_s = 1.5, .version = 2, .samples = 64, .accuracy = 0.5, .loss = 0.25});
  std::ifstream curve(folder.path() + "/curve.csv");
  std::string columns, point;
  std::getline(curve, columns);
  std::getline(curve, point);
  EXPECT_EQ(std::ranges::count(columns, ','), std::ranges::count(point, ','));
  EXPECT_TRUE(point.ends_with(",0.250000")) << point;
}

// A folder as a run leaves it.
std::string made_run(const TestFolder& folder, const std::string& name, const RunOptions& options,
                     int windows) {
  const std::string path = folder.path() + "/" + name;
  std::filesystem::create_directory(path);
  std::ofstream(path + "/run.json") << run_options_text(options);
  std::ofstream log(path + "/windows.csv");
  log << window_columns() << "\n";
  for (int i = 0; i < windows; ++i) log << window_line(window(i, i % 2)) << "\n";
  return path;
}

TEST(Experience, RunsOfAnotherTrainingAreRefused) {
  const TestFolder folder;
  RunOptions options{.mode = "star"};
  const std::string same = made_run(folder, "same", options, 3);
  RunOptions other_place = options;
  other_place.workers = 5;
  other_place.cores = 0.5;
  other_place.learner.seed = 9;
  const std::string moved = made_run(folder, "moved", other_place, 4);
  RunOptions other = options;
  other.batch = 512;
  const std::string larger = made_run(folder, "larger", other, 3);
  const std::string none = made_run(folder, "none", options, 0);
  const auto read = read_experience({same, moved, none}, options);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read.value().size(), 3u);
  EXPECT_EQ(read.value()[1].size(), 4u);
  const auto refused = read_experience({same, larger}, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("larger: was "), std::string::npos);
  EXPECT_NE(refused.error().message.find("--batch 512"), std::string::npos);
  EXPECT_FALSE(read_experience({none}, options).ok());
  EXPECT_FALSE(read_experience({folder.path()}, options).ok());
}

// A window lasts a second at least, so the first run takes a few.
TEST(Experience, ARunBeginsWithTheWindowsOfAnother) {
  const TestFolder folder;
  const std::string first = folder.path() + "/first", second = folder.path() + "/second";
  const Outcome taught = run_in(first, {"--mode", "star", "--time-limit", "4s"});
  ASSERT_EQ(taught.run.exit_code, 0) << taught.run.errors;
  const auto windows = read_windows(first);
  ASSERT_TRUE(windows.ok()) << windows.error().message;
  ASSERT_FALSE(windows.value().empty());
  const std::string many = made_run(folder, "many", read_run_options(first).value(), 300);
  const std::vector<std::string> arguments = {
      "run",  "--model",      "linear", "--batch",      "64", "--rate", "0.05", "--data",
      "line", "--dir",        second,   "--steps",      "8",  "--mode", "star", "--workers",
      "4",    "--experience", many,     "--experience", first};
  const TestRun begun = train(arguments, second);
  ASSERT_EQ(begun.exit_code, 0) << begun.errors;
  const auto total = std::to_string(300 + windows.value().size());
  EXPECT_NE(begun.errors.find("with " + total + " windows of 2 earlier runs"), std::string::npos)
      << begun.errors;
  EXPECT_EQ(read_run_options(second).value().experience, (std::vector<std::string>{many, first}));

  const TestRun scored = train({"selector", "score", many, first}, folder.path() + "/score");
  EXPECT_EQ(scored.exit_code, 0) << scored.errors;
  EXPECT_NE(scored.output.find("heuristic"), std::string::npos) << scored.output;
  EXPECT_NE(scored.output.find("\nall "), std::string::npos) << scored.output;

  const Outcome fixed = run_in(folder.path() + "/fixed", {"--steps", "8", "--experience", first});
  EXPECT_EQ(fixed.run.exit_code, 2);
  EXPECT_NE(fixed.run.errors.find("--experience"), std::string::npos) << fixed.run.errors;
}

}  // namespace
}  // namespace orrery
