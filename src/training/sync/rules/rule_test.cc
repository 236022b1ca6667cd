#include "training/sync/rules/rule.h"

#include <gtest/gtest.h>

#include "training/sync/test_harness.h"

namespace orrery {
namespace {

using Tasks = std::vector<std::int64_t>;
using Workers = std::vector<WorkerId>;

constexpr WorkerId w(int i) { return WorkerId{i}; }
ConductorOptions options(int blocks = 1) { return {.global_batch = 8, .blocks = blocks}; }

TEST(DynamicRule, AGroupIsAnUpdateAndGroupsDoNotWaitForEachOther) {
  ConductorHarness harness(options(), 4,
                           {.rule = SyncRuleKind::Dynamic, .groups = {{w(0), w(2)}, {w(1)}}});
  harness.done(0);
  EXPECT_TRUE(harness.updates.empty());
  harness.done(1);
  harness.done(3);
  ASSERT_EQ(harness.updates.size(), 2u) << "a worker in no group is a group alone";
  EXPECT_EQ(harness.terms(0), Tasks{2});
  EXPECT_EQ(harness.terms(1), Tasks{4});
  harness.done(2);
  ASSERT_EQ(harness.updates.size(), 3u);
  EXPECT_EQ(harness.terms(2), (Tasks{1, 3}));
  EXPECT_EQ(harness.conductor->counts().staleness_sum, 0 + 1 + 2 + 2);
}

TEST(DynamicRule, AGroupIsCompleteWhenItsLastMemberLeaves) {
  ConductorHarness harness(options(), 4,
                           {.rule = SyncRuleKind::Dynamic, .groups = {{w(0), w(1), w(2)}}});
  harness.done(0);
  harness.done(1);
  harness.leave(1);
  EXPECT_TRUE(harness.updates.empty());
  harness.leave(2);
  ASSERT_EQ(harness.updates.size(), 1u);
  EXPECT_EQ(harness.terms(0), (Tasks{1, 2})) << "the gradient of a worker that left goes with it";
}

TEST(DynamicRule, GradientsOfWorkersThatLeftAreUsedWhenTheModeIsLeft) {
  ConductorHarness harness(options(), 4,
                           {.rule = SyncRuleKind::Dynamic, .groups = {{w(0), w(1), w(2)}}});
  harness.done(0);
  harness.leave(0);
  harness.director->says = {};
  harness.tick();
  ASSERT_EQ(harness.updates.size(), 1u);
  EXPECT_EQ(harness.terms(0), Tasks{1});
}

TEST(DynamicRule, AGroupStartsTogetherAfterItsUpdate) {
  ConductorHarness harness(options(), 3, {.rule = SyncRuleKind::Dynamic, .groups = {{w(0), w(1)}}});
  for (int i = 0; i < 3; ++i) {
    harness.done(0);
    EXPECT_EQ(std::ssize(harness.updates), i);
    harness.done(1);
    EXPECT_EQ(std::ssize(harness.updates), i + 1);
  }
}

TEST(DynamicRule, AChildBelongsToItsParentsGroup) {
  ConductorHarness harness(options(), 4,
                           {.rule = SyncRuleKind::Dynamic,
                            .groups = {{w(0), w(2)}, {w(1), w(3)}},
                            .parents = {{w(1), w(0)}}});
  harness.done(3);
  ASSERT_EQ(harness.updates.size(), 1u) << "its fellow is in the other group now";
  harness.done(0, {1});
  EXPECT_EQ(harness.updates.size(), 1u);
  harness.done(2);
  ASSERT_EQ(harness.updates.size(), 2u);
  EXPECT_EQ(harness.terms(1), (Tasks{1, 3}));
}

TEST(SspRule, NoWorkerGetsMoreThanTheBoundBeyondTheSlowest) {
  ConductorHarness harness(options(), 2, {.rule = SyncRuleKind::Ssp, .bound = 2});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(harness.computes(0)) << i;
    harness.done(0);
  }
  EXPECT_EQ(harness.updates.size(), 3u) << "every gradient is used at once";
  EXPECT_FALSE(harness.computes(0));
  harness.done(1);
  EXPECT_TRUE(harness.computes(0));
  harness.done(0);
  EXPECT_FALSE(harness.computes(0));
}

TEST(SspRule, AJoiningWorkerBeginsWhereTheSlowestIs) {
  ConductorHarness harness(options(), 2, {.rule = SyncRuleKind::Ssp, .bound = 0});
  for (int i = 0; i < 4; ++i) {
    harness.done(0);
    harness.done(1);
  }
  harness.done(0);
  harness.join(2);
  EXPECT_FALSE(harness.computes(0));
  harness.done(1);
  EXPECT_FALSE(harness.computes(0));
  harness.done(2);
  EXPECT_TRUE(harness.computes(0) && harness.computes(1) && harness.computes(2));
}

TEST(SspRule, WhenTheSlowestLeavesTheOthersGoOn) {
  ConductorHarness harness(options(), 2, {.rule = SyncRuleKind::Ssp, .bound = 0});
  harness.done(0);
  EXPECT_FALSE(harness.computes(0));
  harness.leave(1);
  EXPECT_TRUE(harness.computes(0));
}

TEST(LgcRule, TheFastestMakeTheUpdateAndTheOthersAreCut) {
  ConductorHarness harness(options(4), 4, {.rule = SyncRuleKind::Lgc, .x = 3});
  harness.done(0);
  harness.done(1);
  EXPECT_TRUE(harness.cuts.empty());
  harness.done(2);
  ASSERT_EQ(harness.updates.size(), 1u);
  ASSERT_EQ(harness.cuts.size(), 1u);
  EXPECT_EQ(harness.cuts[0].task, 4);
  EXPECT_EQ(harness.cuts[0].worker, w(3));
  Gradient part = harness.gradient_of(3);
  part.samples = 1;
  harness.say(part);
  EXPECT_EQ(harness.task.at(3).version, 1) << "it starts its next task at once";
  EXPECT_EQ(harness.updates.size(), 1u) << "what is late does not count among the fastest";
  harness.done(0);
  harness.done(1);
  EXPECT_EQ(harness.updates.size(), 1u);
  harness.done(3);
  ASSERT_EQ(harness.updates.size(), 2u);
  EXPECT_EQ(harness.terms(1), (Tasks{4, 5, 6, 8}));
  EXPECT_DOUBLE_EQ(harness.updates[1].update.terms[0].weight, 1.0 / 8);
  EXPECT_DOUBLE_EQ(harness.updates[1].update.terms[1].weight, 2.0 / 8);
  EXPECT_EQ(harness.conductor->counts().samples_cut, 1);
}

TEST(LgcRule, WhatIsOlderThanOneVersionIsDropped) {
  ConductorHarness harness(options(4), 3, {.rule = SyncRuleKind::Lgc, .x = 2});
  for (int i = 0; i < 2; ++i) {
    harness.done(0);
    harness.done(1);
  }
  EXPECT_EQ(harness.cuts.size(), 1u) << "no task is cut twice";
  harness.done(2);
  ASSERT_EQ(harness.drops.size(), 1u);
  EXPECT_EQ(harness.drops[0].task, 3);
  EXPECT_EQ(harness.conductor->counts().dropped, 1);
  EXPECT_EQ(harness.task.at(2).version, 2);
}

TEST(LgcRule, ACutBeforeTheFirstBlockLosesNothing) {
  ConductorHarness harness(options(4), 3, {.rule = SyncRuleKind::Lgc, .x = 2});
  const Samples samples = harness.task.at(2).samples;
  harness.done(0);
  harness.done(1);
  harness.say({.task = 3, .samples = 0});
  EXPECT_EQ(harness.task.at(2).samples.first, samples.first);
  EXPECT_EQ(harness.task.at(2).samples.count, samples.count);
  EXPECT_EQ(harness.conductor->counts().lost, 1);
}

TEST(LgcRule, ATaskThatMayBeMergedWithAnothersIsNotCut) {
  ConductorHarness harness(options(4), 4, {.parents = {{w(1), w(0)}}});
  harness.director->says = {.rule = SyncRuleKind::Lgc, .x = 1};
  harness.tick();
  harness.done(3);
  EXPECT_EQ(harness.updates.size(), 1u);
  EXPECT_TRUE(harness.cuts.empty());
  harness.done(3);
  harness.done(2);
  harness.done(2);
  EXPECT_EQ(harness.cuts.size(), 1u) << "the third's second task, which began without the tree";
}

TEST(ZenoRule, TakesAGradientThatHelpsAndDropsOneThatDoesNot) {
  const auto rule = make_zeno_rule({.rho = 0.5, .epsilon = 0, .period = 3});
  EXPECT_TRUE(rule->wants_validation());
  EXPECT_FALSE(rule->wants_validation());
  const std::vector<int> seats{0};
  const auto came = [&](double dot, double rate) {
    return rule->came({.task = 1,
                       .seats = seats,
                       .norm2 = 16,
                       .dot_validation = dot,
                       .norm2_validation = 4,
                       .rate = rate});
  };
  // c = 1/2 and the bound is rate * dot / 2 >= 0.5 * 4.
  EXPECT_EQ(came(40, 0.1), Fate::Wait);
  EXPECT_EQ(came(39.9, 0.1), Fate::Drop);
  EXPECT_EQ(came(-40, 0.1), Fate::Drop);
  std::vector<Term> terms;
  EXPECT_TRUE(rule->take(Membership{}, terms));
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_DOUBLE_EQ(terms[0].weight, 0.5);
}

TEST(ZenoRule, AValidationGradientThatAllContradictIsRenewed) {
  ConductorHarness harness({.global_batch = 8, .zeno = {.period = 2}}, 2,
                           {.rule = SyncRuleKind::ZenoPlus});
  ASSERT_EQ(harness.others.size(), 1u);
  for (int refusal = 1; refusal <= 4; ++refusal) {
    Gradient bad = harness.gradient_of(0);
    bad.norm2_validation = 1;
    bad.dot_validation = -1;
    harness.say(bad);
    EXPECT_EQ(harness.others.size(), 1u + static_cast<std::size_t>(refusal) / 2);
  }
  EXPECT_TRUE(harness.updates.empty());
}

TEST(ZenoRule, ItsEpsilonForgives) {
  const std::vector<int> seats{0};
  const Arrival arrival{.task = 1,
                        .seats = seats,
                        .norm2 = 1,
                        .dot_validation = -1,
                        .norm2_validation = 1,
                        .rate = 0.1};
  EXPECT_EQ(make_zeno_rule({.rho = 0.01, .epsilon = 1.1})->came(arrival), Fate::Wait);
  EXPECT_EQ(make_zeno_rule({.rho = 0.01, .epsilon = 1.09})->came(arrival), Fate::Drop);
}

TEST(ZenoRule, BeforeTheFirstValidationGradientEverythingIsTaken) {
  ConductorHarness harness({.global_batch = 8, .zeno = {.period = 2}}, 2,
                           {.rule = SyncRuleKind::ZenoPlus});
  EXPECT_EQ(harness.others.size(), 1u) << "a validation gradient is asked for at the start";
  harness.done(0);
  EXPECT_EQ(harness.others.size(), 1u);
  harness.done(1);
  EXPECT_EQ(harness.others.size(), 2u) << "and every second update";
  EXPECT_DOUBLE_EQ(harness.updates[0].update.terms[0].weight, 0.5);
  Gradient bad = harness.gradient_of(0);
  bad.norm2_validation = 1;
  bad.dot_validation = -1;
  harness.say(bad);
  EXPECT_EQ(harness.drops.size(), 1u);
  EXPECT_TRUE(harness.computes(0));
}

class RingTest : public testing::Test {
 protected:
  static ConductorOptions all_reduce() {
    return {.architecture = Architecture::AllReduce, .global_batch = 8};
  }
  const Mode three_and_a_child_{.rule = SyncRuleKind::Ring, .ring = {w(0), w(1), w(2)}};
};

TEST_F(RingTest, TheRingWaitsForItsOwnAndTakesChildrenAlongThatAreThere) {
  ConductorHarness harness(all_reduce(), 4, three_and_a_child_);
  ASSERT_EQ(harness.rings.size(), 1u);
  EXPECT_EQ(harness.rings[0].ring, (Workers{w(0), w(1), w(2)}));
  EXPECT_EQ(harness.rings[0].parents, (std::vector{std::pair{w(3), w(0)}}));
  for (const int i : {0, 1, 2}) harness.done(i);
  ASSERT_EQ(harness.updates.size(), 1u);
  EXPECT_EQ(harness.terms(0), (Tasks{1, 2, 3}));
  EXPECT_FALSE(harness.computes(0)) << "no worker goes on before the ring has summed";
  harness.applied();
  EXPECT_EQ(harness.task.at(0).version, 1);
  harness.done(3);
  for (const int i : {0, 1, 2}) harness.done(i);
  ASSERT_EQ(harness.updates.size(), 2u);
  EXPECT_EQ(harness.terms(1), (Tasks{4, 5, 6, 7}));
  harness.applied();
  EXPECT_EQ(harness.conductor->counts().staleness_sum, 1);
}

TEST_F(RingTest, AChildGoesOnWithoutItsRingButNotFarAhead) {
  ConductorHarness harness(all_reduce(), 4, three_and_a_child_);
  harness.done(3);
  EXPECT_EQ(harness.task.at(3).number, 5) << "at once";
  harness.done(3);
  EXPECT_EQ(harness.started.size(), 5u) << "two of its gradients wait for the ring";
  for (const int i : {0, 1, 2}) harness.done(i);
  EXPECT_EQ(harness.terms(0), (Tasks{1, 2, 3, 4, 5}));
  harness.applied();
  EXPECT_EQ(harness.task.at(3).version, 1);
  for (const int i : {0, 1, 2}) harness.done(i);
  const auto started = harness.started.size();
  harness.done(3);
  EXPECT_EQ(harness.started.size(), started) << "its parent is summing";
  harness.applied();
  EXPECT_EQ(harness.task.at(3).version, 2);
  EXPECT_EQ(harness.terms(1).size(), 3u);
  for (const int i : {0, 1, 2}) harness.done(i);
  EXPECT_EQ(harness.terms(2).size(), 4u);
}

TEST_F(RingTest, AChildLostWithItsParentHasNoGradientKept) {
  ConductorHarness harness(all_reduce(), 4, three_and_a_child_);
  harness.done(3);
  harness.done(3);
  harness.leave(0);
  EXPECT_EQ(harness.conductor->counts().lost, 3);
  ASSERT_EQ(harness.started.size(), 6u);
  harness.done(3);
  EXPECT_EQ(harness.started.size(), 7u) << "one of its gradients waits for the ring";
  harness.done(3);
  EXPECT_EQ(harness.started.size(), 7u);
}

TEST_F(RingTest, AFailedUpdateIsMadeAgainWithoutTheLost) {
  ConductorHarness harness(all_reduce(), 4, three_and_a_child_);
  harness.done(3);
  for (const int i : {0, 1, 2}) harness.done(i);
  EXPECT_EQ(harness.terms(0), (Tasks{1, 2, 3, 4}));
  harness.failed({w(0)});
  ASSERT_EQ(harness.updates.size(), 2u);
  EXPECT_EQ(harness.updates[1].update.version, 1);
  EXPECT_EQ(harness.terms(1), (Tasks{2, 3}))
      << "the child's gradient was in the lost worker's memory";
  EXPECT_EQ(harness.rings.back().ring, (Workers{w(1), w(2)}));
  harness.applied();
  EXPECT_EQ(harness.conductor->counts().lost, 2);
  EXPECT_EQ(harness.conductor->counts().updates, 1);
  EXPECT_TRUE(harness.computes(1) && harness.computes(2) && harness.computes(3));
  EXPECT_EQ(harness.task.at(1).samples.first, 0) << "what was lost comes first";
}

TEST_F(RingTest, AnUpdateThatFailedForNoKnownReasonIsMadeAgainInANewRing) {
  ConductorHarness harness(all_reduce(), 3, {.rule = SyncRuleKind::Ring});
  for (const int i : {0, 1, 2}) harness.done(i);
  harness.failed({});
  EXPECT_EQ(harness.rings.size(), 2u);
  EXPECT_GT(harness.rings[1].epoch, harness.rings[0].epoch);
  EXPECT_EQ(harness.terms(1), harness.terms(0));
}

TEST_F(RingTest, AGradientIsLostWithTheWorkerThatHoldsIt) {
  ConductorHarness harness(all_reduce(), 4, three_and_a_child_);
  harness.done(3);
  harness.done(0);
  harness.leave(0);
  EXPECT_EQ(harness.conductor->counts().lost, 2) << "its child's lay there too";
  EXPECT_TRUE(harness.computes(3));
  harness.done(1);
  harness.done(2);
  EXPECT_EQ(harness.terms(0), (Tasks{2, 3}));
}

TEST_F(RingTest, AChildsGradientInTheMemoryOfAWorkerThatLeftIsNotUsed) {
  ConductorHarness harness(all_reduce(), 4, three_and_a_child_);
  for (const int i : {0, 1, 2}) harness.done(i);
  harness.leave(0);
  harness.done(3);
  ASSERT_EQ(harness.drops.size(), 1u);
  EXPECT_EQ(harness.drops[0].task, 4);
  harness.applied();
  EXPECT_EQ(harness.task.at(3).number, 7);
  EXPECT_EQ(harness.task.at(1).samples.first, 6) << "the child's samples are done again";
}

TEST_F(RingTest, AnUpdateEndsWithTheLastWorker) {
  ConductorHarness harness(all_reduce(), 2, {.rule = SyncRuleKind::Ring});
  harness.done(0);
  harness.done(1);
  harness.failed({w(0), w(1)});
  EXPECT_EQ(harness.updates.size(), 1u);
  harness.applied();
  EXPECT_EQ(harness.conductor->counts().refused, 1);
  EXPECT_TRUE(harness.director->updates.empty());
  harness.join(2);
  EXPECT_EQ(harness.task.at(2).version, 0);
  EXPECT_EQ(harness.task.at(2).samples.first, 0);
}

TEST_F(RingTest, AWorkerThatJoinsDuringAnUpdateIsInTheNextRing) {
  ConductorHarness harness(all_reduce(), 2, {.rule = SyncRuleKind::Ring});
  harness.done(0);
  harness.done(1);
  harness.join(2);
  EXPECT_EQ(harness.rings.size(), 1u);
  EXPECT_FALSE(harness.computes(2));
  harness.applied();
  EXPECT_EQ(harness.rings.back().ring, (Workers{w(0), w(1), w(2)}));
  EXPECT_TRUE(harness.computes(2));
}

TEST_F(RingTest, TheRingChangesOnlyWhileNoMemberComputes) {
  ConductorHarness harness(all_reduce(), 3, {.rule = SyncRuleKind::Ring});
  harness.done(0);
  harness.director->says = {.rule = SyncRuleKind::Ring, .ring = {w(0), w(1)}};
  harness.tick();
  EXPECT_EQ(harness.rings.size(), 1u);
  harness.done(1);
  harness.done(2);
  harness.applied();
  EXPECT_EQ(harness.rings.back().ring, (Workers{w(0), w(1)}));
  EXPECT_EQ(harness.conductor->counts().mode_switches, 1);
}

TEST_F(RingTest, WhatChildrenHandedInMeanwhileIsDrainedBeforeTheRingChanges) {
  ConductorHarness harness(all_reduce(), 4, three_and_a_child_);
  for (const int i : {0, 1, 2}) harness.done(i);
  harness.done(3);
  harness.director->says = {.rule = SyncRuleKind::Ring};
  harness.applied();
  ASSERT_EQ(harness.updates.size(), 2u);
  EXPECT_EQ(harness.terms(1), Tasks{4});
  EXPECT_EQ(harness.rings.size(), 1u);
  EXPECT_FALSE(harness.computes(0));
  harness.applied();
  EXPECT_EQ(harness.rings.back().ring.size(), 4u);
  EXPECT_TRUE(harness.computes(0) && harness.computes(3));
}

TEST_F(RingTest, OtherModesMeanTheFullRing) {
  ConductorHarness harness(all_reduce(), 3, {.x = 1});
  harness.done(0);
  harness.done(1);
  EXPECT_TRUE(harness.updates.empty());
  harness.done(2);
  EXPECT_EQ(harness.updates.size(), 1u);
}

TEST_F(RingTest, ItIsJustARuleWhereThereAreParameterServers) {
  ConductorHarness harness(options(), 4, three_and_a_child_);
  EXPECT_TRUE(harness.rings.empty());
  EXPECT_TRUE(harness.trees.empty());
  for (const int i : {0, 3, 1, 2}) harness.done(i);
  EXPECT_EQ(harness.terms(0), (Tasks{1, 2, 3, 4}));
}

}  // namespace
}  // namespace orrery
