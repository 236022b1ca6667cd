#include "experiments/sweep/sweep_plan.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

const std::string kCommon = "trace = 'philly-like:jobs=20,gpus=8'\ncluster = '2x4'\n";

Result<SweepPlan> planned(const std::string& text) {
  TRY_ASSIGN(const SweepSpec spec, parse_sweep("s.toml", text));
  return plan_sweep(spec);
}

SweepPlan plan(const std::string& text) {
  auto made = planned(text);
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(made).value() : SweepPlan();
}

std::string problem(const std::string& text) {
  const auto made = planned(text);
  return made.ok() ? "" : made.error().message;
}

std::vector<std::string> texts(const SweepPlan& plan) {
  std::vector<std::string> found;
  for (const SweepPoint& point : plan.points) found.push_back(plan.text_of(point));
  return found;
}

using Texts = std::vector<std::string>;

TEST(SweepPlan, TheLastAxisChangesFirst) {
  const SweepPlan made =
      plan(kCommon + "[axes]\npolicy = ['fifo', 'las']\nload = [0.5, 0.9]\nseed = [1, 2]\n");
  ASSERT_EQ(made.points.size(), 8U);
  EXPECT_EQ(made.text_of(made.points[1]), "policy=fifo, load=0.5, seed=2");
  EXPECT_EQ(made.text_of(made.points[6]), "policy=las, load=0.9, seed=1");
  EXPECT_EQ(made.points[6].trace, "philly-like:jobs=20,gpus=8,load=0.9,seed=1");
  EXPECT_EQ(made.points[6].run.policy.name, "las");
  EXPECT_EQ(made.points[6].run.policy.seed, 1U);
  EXPECT_EQ(made.seed_axis, 2U);
}

TEST(SweepPlan, AnOptionReachesThePoliciesThatKnowIt) {
  const SweepPlan made = plan(
      kCommon + "[axes]\npolicy = ['fifo', 'las', 'las:promote=2']\noption.promote = [4, 8]\n");
  EXPECT_EQ(texts(made), (Texts{"policy=fifo", "policy=las, option.promote=4",
                                "policy=las, option.promote=8", "policy=las:promote=2"}));
  EXPECT_EQ(made.points[1].run.policy.options.at("promote"), "4");
  EXPECT_EQ(made.points[3].run.policy.options.at("promote"), "2");
}

TEST(SweepPlan, AParameterReachesTheGeneratorsThatHaveIt) {
  const SweepPlan made = plan(
      "cluster = '2x4'\npolicy = 'fifo'\n[axes]\ntrace = ['philly-like', 'philly-like:load=0.3']\n"
      "load = [0.5, 0.9]\n");
  EXPECT_EQ(texts(made), (Texts{"trace=philly-like, load=0.5", "trace=philly-like, load=0.9",
                                "trace=philly-like:load=0.3"}));
  EXPECT_EQ(made.points[0].trace, "philly-like:load=0.5");
}

TEST(SweepPlan, AnAxisThatReachesNothingIsAnError) {
  EXPECT_NE(problem(kCommon + "policy = 'fifo'\n[axes]\noption.promote = [4, 8]\n")
                .find("the axis option.promote reaches no run"),
            std::string::npos);
  EXPECT_NE(problem(kCommon + "policy = 'fifo'\n[option]\npromote = 4\n").find("option.promote"),
            std::string::npos);
}

TEST(SweepPlan, ExclusionsLeaveOutWhatTheyMatch) {
  const SweepPlan made = plan(kCommon +
                              "[axes]\npolicy = ['fifo', 'las']\nload = [0.5, 0.9]\n"
                              "[[exclude]]\npolicy = 'las'\nload = 0.9\n");
  EXPECT_EQ(texts(made),
            (Texts{"policy=fifo, load=0.5", "policy=fifo, load=0.9", "policy=las, load=0.5"}));
  EXPECT_NE(problem(kCommon + "[axes]\npolicy = ['fifo']\n[[exclude]]\npolicy = 'fifo'\n")
                .find("has no run"),
            std::string::npos);
}

TEST(SweepPlan, PointsAreRunsBesideTheAxesAndNoRunComesTwice) {
  const SweepPlan made = plan(kCommon +
                              "[axes]\npolicy = ['fifo', 'las']\n[[points]]\npolicy = 'srtf'\n"
                              "[[points]]\npolicy = 'las'\n");
  EXPECT_EQ(texts(made), (Texts{"policy=fifo", "policy=las", "policy=srtf"}));
}

TEST(SweepPlan, ARunIsComparedWithTheBaselineOfItsOtherValues) {
  const SweepPlan made =
      plan(kCommon + "[axes]\npolicy = ['fifo', 'las']\noption.promote = [4, 8]\nseed = [1, 2]\n");
  // fifo 1, fifo 2, las 4 1, las 4 2, las 8 1, las 8 2
  ASSERT_EQ(made.points.size(), 6U);
  EXPECT_EQ(made.baseline_text(), "policy=fifo");
  EXPECT_EQ(made.baseline_of[0], std::nullopt);
  EXPECT_EQ(made.baseline_of[2], 0U);
  EXPECT_EQ(made.baseline_of[3], 1U);
  EXPECT_EQ(made.baseline_of[5], 1U);
}

TEST(SweepPlan, TheBaselineMayBeAnotherAxis) {
  const SweepPlan made = plan(kCommon +
                              "[axes]\npolicy = ['fifo', 'las']\nload = [0.5, 0.9]\n"
                              "[baseline]\nload = 0.9\n");
  EXPECT_EQ(made.baseline_of[0], 1U);
  EXPECT_EQ(made.baseline_of[1], std::nullopt);
  EXPECT_EQ(made.baseline_of[2], 3U);
}

TEST(SweepPlan, AColumnDoesNotHaveTheNameOfAMetric) {
  const SweepPlan made = plan(
      "cluster = '2x4'\npolicy = 'fifo'\ntrace = 'philly-like'\n[axes]\n"
      "jobs = [10, 20]\nload = [0.5]\nsemantics = ['orrery']\n");
  EXPECT_EQ(made.column(0), "generator.jobs");
  EXPECT_EQ(made.column(1), "load");
  EXPECT_EQ(made.column(2), "semantics");
}

TEST(SweepPlan, WhatCannotBeIsRefused) {
  EXPECT_EQ(problem("trace = 'philly-like'\npolicy = 'fifo'\n"),
            "a run has no cluster; write cluster = \"...\" or an axis of it");
  EXPECT_NE(problem(kCommon + "policy = 'fifo'\nspeed-error = 2\n").find("speed-error = 2"),
            std::string::npos);
  EXPECT_NE(problem(kCommon + "policy = 'fifo'\n[axes]\nseed = [1.5]\n").find("seed = 1.5"),
            std::string::npos);
  EXPECT_NE(problem("trace = '-'\ncluster = '2x4'\npolicy = 'fifo'\n").find("several times"),
            std::string::npos);
  EXPECT_NE(problem(kCommon + "policy = 'fifo'\n[axes]\ncluster = ['1x8', '2x8']\n"
                              "size = [{name = 's', cluster = '3x8'}]\n")
                .find("the axes cluster and size both set cluster"),
            std::string::npos);
  EXPECT_NE(problem(kCommon + "policy = 'fifo'\n[axes]\nseed = {from = 1, to = 2000}\n"
                              "load = {from = 1, to = 2000}\n")
                .find("are more than 1000000"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
