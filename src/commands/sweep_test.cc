#include "commands/sweep.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "experiments/sweep/sweep_plan.h"

namespace orrery {
namespace {

SweepArguments options() {
  SweepArguments arguments;
  arguments.run.traces = {"philly-like:jobs=10,gpus=8"};
  arguments.run.clusters = {"2x4"};
  arguments.run.policies = {"fifo", "las"};
  return arguments;
}

SweepPlan plan(const SweepArguments& arguments) {
  const auto spec = sweep_of_options(arguments);
  EXPECT_TRUE(spec.ok()) << spec.error().message;
  auto made = plan_sweep(spec.value());
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(made).value() : SweepPlan();
}

std::string problem(const SweepArguments& arguments) {
  const auto spec = sweep_of_options(arguments);
  return spec.ok() ? "" : spec.error().message;
}

TEST(SweepOptions, SayTheSameAsAFile) {
  SweepArguments arguments = options();
  arguments.axes = {"load=0.5,0.9", "option.promote=2,4"};
  arguments.seeds = "1-3";
  arguments.baseline = {"policy=las"};
  arguments.run.options = {"placement=packed"};
  const SweepPlan made = plan(arguments);
  // fifo does not know `promote`: 2 loads x 3 seeds; las: those by 2.
  EXPECT_EQ(made.points.size(), 6U + 12U);
  EXPECT_EQ(made.text_of(made.points[0]), "policy=fifo, load=0.5, seed=1");
  EXPECT_EQ(made.text_of(made.points.back()), "policy=las, load=0.9, option.promote=4, seed=3");
  EXPECT_EQ(made.points[0].run.policy.options.at("placement"), "packed");
  EXPECT_EQ(made.baseline_text(), "policy=las");
}

TEST(SweepOptions, OneValueIsNoAxis) {
  SweepArguments arguments = options();
  arguments.run.policies = {"fifo"};
  arguments.seeds = "7";
  const SweepPlan made = plan(arguments);
  EXPECT_TRUE(made.axes.empty());
  EXPECT_EQ(made.points[0].trace, "philly-like:jobs=10,gpus=8,seed=7");
}

TEST(SweepOptions, EachTraceMayHaveItsCluster) {
  SweepArguments arguments = options();
  arguments.run.traces.emplace_back("philly-like:jobs=20,gpus=16");
  arguments.run.clusters.emplace_back("4x4");
  const SweepPlan made = plan(arguments);
  ASSERT_EQ(made.points.size(), 4U);
  EXPECT_EQ(made.points[0].cluster, "2x4");
  EXPECT_EQ(made.points[3].cluster, "4x4");
  arguments.run.clusters.emplace_back("8x4");
  EXPECT_NE(problem(arguments).find("3 clusters for 2 traces"), std::string::npos);
}

TEST(SweepOptions, WhatIsWrongIsNamed) {
  SweepArguments arguments = options();
  arguments.axes = {"lod=1,2"};
  EXPECT_TRUE(problem(arguments).starts_with("--axis lod=1,2: there is no setting 'lod'"));
  arguments.axes = {"policy=srtf,las"};
  EXPECT_EQ(problem(arguments), "the axis policy comes twice");
  arguments.axes = {};
  arguments.baseline = {"policy=srtf"};
  EXPECT_TRUE(problem(arguments).starts_with("--baseline policy=srtf: the axis policy has no"));
}

class SweepCommandTest : public testing::Test {
 protected:
  SweepArguments file(const std::string& text) const {
    SweepArguments arguments;
    arguments.file = folder_.write("s.toml", text);
    arguments.out = folder_.file("out");
    arguments.run.quiet = true;
    return arguments;
  }
  static std::string refusal(const SweepArguments& arguments) {
    const Status status = sweep_command(arguments);
    return status.ok() ? "" : status.error().message;
  }
  const TestFolder folder_;
};

TEST_F(SweepCommandTest, AFileTakesNoOtherAxes) {
  SweepArguments arguments = file("policy = 'fifo'\n");
  arguments.seeds = "1-2";
  EXPECT_NE(refusal(arguments).find("leave out the other options"), std::string::npos);
}

TEST_F(SweepCommandTest, AWrongFileMakesNoFolder) {
  const SweepArguments arguments = file("polcy = 'fifo'\n");
  EXPECT_NE(refusal(arguments).find("s.toml:1: unknown key 'polcy'"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(arguments.out));
}

TEST_F(SweepCommandTest, AFolderThatCannotBeMadeIsNamed) {
  SweepArguments arguments =
      file("policy = 'fifo'\ncluster = '2x4'\ntrace = 'philly-like:jobs=3'\n");
  arguments.out = arguments.file + "/out";
  EXPECT_TRUE(refusal(arguments).starts_with("--out " + arguments.out + ": "));
}

TEST_F(SweepCommandTest, NoOutputIsAnInput) {
  SweepArguments arguments =
      file("policy = 'fifo'\ncluster = '2x4'\ntrace = 'philly-like:jobs=3'\n");
  arguments.run.report = arguments.file;
  EXPECT_NE(refusal(arguments).find("the sweep reads this file"), std::string::npos);
}

}  // namespace
}  // namespace orrery
