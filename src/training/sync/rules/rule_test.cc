#include "training/sync/rules/rule.h"

#include <gtest/gtest.h>

#include "training/sync/test_band.h"

namespace orrery {
namespace {

using Tasks = std::vector<std::int64_t>;
using Workers = std::vector<WorkerId>;

constexpr WorkerId w(int i) { return WorkerId{i}; }
ConductorOptions options(int blocks = 1) { return {.global_batch = 8, .blocks = blocks}; }

TEST(DynamicRule, AGroupIsAnUpdateAndGroupsDoNotWaitForEachOther) {
  TestBand band(options(), 4, {.rule = SyncRuleKind::Dynamic, .groups = {{w(0), w(2)}, {w(1)}}});
  band.done(0);
  EXPECT_TRUE(band.updates.empty());
  band.done(1);
  band.done(3);
  ASSERT_EQ(band.updates.size(), 2u) << "who is in no group is one alone";
  EXPECT_EQ(band.terms(0), Tasks{2});
  EXPECT_EQ(band.terms(1), Tasks{4});
  band.done(2);
  ASSERT_EQ(band.updates.size(), 3u);
  EXPECT_EQ(band.terms(2), (Tasks{1, 3}));
  EXPECT_EQ(band.conductor->counts().staleness_sum, 0 + 1 + 2 + 2);
}

TEST(DynamicRule, AGroupIsCompleteWhenItsLastMemberLeaves) {
  TestBand band(options(), 4, {.rule = SyncRuleKind::Dynamic, .groups = {{w(0), w(1), w(2)}}});
  band.done(0);
  band.done(1);
  band.leave(1);
  EXPECT_TRUE(band.updates.empty());
  band.leave(2);
  ASSERT_EQ(band.updates.size(), 1u);
  EXPECT_EQ(band.terms(0), (Tasks{1, 2})) << "what one who left had handed in goes with it";
}

TEST(DynamicRule, WhatThoseWhoLeftHadHandedInIsUsedWhenTheModeIsLeft) {
  TestBand band(options(), 4, {.rule = SyncRuleKind::Dynamic, .groups = {{w(0), w(1), w(2)}}});
  band.done(0);
  band.leave(0);
  band.director->says = {};
  band.tick();
  ASSERT_EQ(band.updates.size(), 1u);
  EXPECT_EQ(band.terms(0), Tasks{1});
}

TEST(DynamicRule, AGroupBeginsAnewAfterItsUpdate) {
  TestBand band(options(), 3, {.rule = SyncRuleKind::Dynamic, .groups = {{w(0), w(1)}}});
  for (int i = 0; i < 3; ++i) {
    band.done(0);
    EXPECT_EQ(std::ssize(band.updates), i);
    band.done(1);
    EXPECT_EQ(std::ssize(band.updates), i + 1);
  }
}

TEST(DynamicRule, AChildBelongsToItsParentsGroup) {
  TestBand band(options(), 4,
                {.rule = SyncRuleKind::Dynamic,
                 .groups = {{w(0), w(2)}, {w(1), w(3)}},
                 .parents = {{w(1), w(0)}}});
  band.done(3);
  ASSERT_EQ(band.updates.size(), 1u) << "its fellow is in the other group now";
  band.done(0, {1});
  EXPECT_EQ(band.updates.size(), 1u);
  band.done(2);
  ASSERT_EQ(band.updates.size(), 2u);
  EXPECT_EQ(band.terms(1), (Tasks{1, 3}));
}

TEST(SspRule, NobodyGetsMoreThanTheBoundAheadOfTheSlowest) {
  TestBand band(options(), 2, {.rule = SyncRuleKind::Ssp, .bound = 2});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(band.computes(0)) << i;
    band.done(0);
  }
  EXPECT_EQ(band.updates.size(), 3u) << "every gradient is used at once";
  EXPECT_FALSE(band.computes(0));
  band.done(1);
  EXPECT_TRUE(band.computes(0));
  band.done(0);
  EXPECT_FALSE(band.computes(0));
}

TEST(SspRule, WhoJoinsBeginsWhereTheSlowestIs) {
  TestBand band(options(), 2, {.rule = SyncRuleKind::Ssp, .bound = 0});
  for (int i = 0; i < 4; ++i) {
    band.done(0);
    band.done(1);
  }
  band.done(0);
  band.join(2);
  EXPECT_FALSE(band.computes(0));
  band.done(1);
  EXPECT_FALSE(band.computes(0));
  band.done(2);
  EXPECT_TRUE(band.computes(0) && band.computes(1) && band.computes(2));
}

TEST(SspRule, WhenTheSlowestLeavesTheOthersGoOn) {
  TestBand band(options(), 2, {.rule = SyncRuleKind::Ssp, .bound = 0});
  band.done(0);
  EXPECT_FALSE(band.computes(0));
  band.leave(1);
  EXPECT_TRUE(band.computes(0));
}

TEST(LgcRule, TheFastestMakeTheUpdateAndTheOthersAreCut) {
  TestBand band(options(4), 4, {.rule = SyncRuleKind::Lgc, .x = 3});
  band.done(0);
  band.done(1);
  EXPECT_TRUE(band.cuts.empty());
  band.done(2);
  ASSERT_EQ(band.updates.size(), 1u);
  ASSERT_EQ(band.cuts.size(), 1u);
  EXPECT_EQ(band.cuts[0].task, 4);
  EXPECT_EQ(band.cuts[0].worker, w(3));
  Gradient part = band.gradient_of(3);
  part.samples = 1;
  band.say(part);
  EXPECT_EQ(band.task.at(3).version, 1) << "it starts anew at once";
  EXPECT_EQ(band.updates.size(), 1u) << "what is late does not count among the fastest";
  band.done(0);
  band.done(1);
  EXPECT_EQ(band.updates.size(), 1u);
  band.done(3);
  ASSERT_EQ(band.updates.size(), 2u);
  EXPECT_EQ(band.terms(1), (Tasks{4, 5, 6, 8}));
  EXPECT_DOUBLE_EQ(band.updates[1].update.terms[0].weight, 1.0 / 8);
  EXPECT_DOUBLE_EQ(band.updates[1].update.terms[1].weight, 2.0 / 8);
  EXPECT_EQ(band.conductor->counts().samples_cut, 1);
}

TEST(LgcRule, WhatIsOlderThanOneVersionIsDropped) {
  TestBand band(options(4), 3, {.rule = SyncRuleKind::Lgc, .x = 2});
  for (int i = 0; i < 2; ++i) {
    band.done(0);
    band.done(1);
  }
  EXPECT_EQ(band.cuts.size(), 1u) << "nobody is cut twice";
  band.done(2);
  ASSERT_EQ(band.drops.size(), 1u);
  EXPECT_EQ(band.drops[0].task, 3);
  EXPECT_EQ(band.conductor->counts().dropped, 1);
  EXPECT_EQ(band.task.at(2).version, 2);
}

TEST(LgcRule, ACutBeforeTheFirstBlockLosesNothing) {
  TestBand band(options(4), 3, {.rule = SyncRuleKind::Lgc, .x = 2});
  const Samples samples = band.task.at(2).samples;
  band.done(0);
  band.done(1);
  band.say({.task = 3, .samples = 0});
  EXPECT_EQ(band.task.at(2).samples.first, samples.first);
  EXPECT_EQ(band.task.at(2).samples.count, samples.count);
  EXPECT_EQ(band.conductor->counts().lost, 1);
}

TEST(LgcRule, ATaskThatMayBeMergedWithAnothersIsNotCut) {
  TestBand band(options(4), 4, {.parents = {{w(1), w(0)}}});
  band.director->says = {.rule = SyncRuleKind::Lgc, .x = 1};
  band.tick();
  band.done(3);
  EXPECT_EQ(band.updates.size(), 1u);
  EXPECT_TRUE(band.cuts.empty());
  band.done(3);
  band.done(2);
  band.done(2);
  EXPECT_EQ(band.cuts.size(), 1u) << "the third's second task, which began without the tree";
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
  EXPECT_TRUE(rule->take(Crowd{}, terms));
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_DOUBLE_EQ(terms[0].weight, 0.5);
}

TEST(ZenoRule, AValidationGradientThatEverybodyContradictsIsRenewed) {
  TestBand band({.global_batch = 8, .zeno = {.period = 2}}, 2, {.rule = SyncRuleKind::ZenoPlus});
  ASSERT_EQ(band.others.size(), 1u);
  for (int refusal = 1; refusal <= 4; ++refusal) {
    Gradient bad = band.gradient_of(0);
    bad.norm2_validation = 1;
    bad.dot_validation = -1;
    band.say(bad);
    EXPECT_EQ(band.others.size(), 1u + static_cast<std::size_t>(refusal) / 2);
  }
  EXPECT_TRUE(band.updates.empty());
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
  TestBand band({.global_batch = 8, .zeno = {.period = 2}}, 2, {.rule = SyncRuleKind::ZenoPlus});
  EXPECT_EQ(band.others.size(), 1u) << "a validation gradient is asked for at the start";
  band.done(0);
  EXPECT_EQ(band.others.size(), 1u);
  band.done(1);
  EXPECT_EQ(band.others.size(), 2u) << "and every second update";
  EXPECT_DOUBLE_EQ(band.updates[0].update.terms[0].weight, 0.5);
  Gradient bad = band.gradient_of(0);
  bad.norm2_validation = 1;
  bad.dot_validation = -1;
  band.say(bad);
  EXPECT_EQ(band.drops.size(), 1u);
  EXPECT_TRUE(band.computes(0));
}

class RingTest : public testing::Test {
 protected:
  static ConductorOptions all_reduce() {
    return {.architecture = Architecture::AllReduce, .global_batch = 8};
  }
  const Mode three_and_a_child_{.rule = SyncRuleKind::Ring, .ring = {w(0), w(1), w(2)}};
};

TEST_F(RingTest, TheRingWaitsForItsOwnAndTakesChildrenAlongThatAreThere) {
  TestBand band(all_reduce(), 4, three_and_a_child_);
  ASSERT_EQ(band.rings.size(), 1u);
  EXPECT_EQ(band.rings[0].ring, (Workers{w(0), w(1), w(2)}));
  EXPECT_EQ(band.rings[0].parents, (std::vector{std::pair{w(3), w(0)}}));
  for (const int i : {0, 1, 2}) band.done(i);
  ASSERT_EQ(band.updates.size(), 1u);
  EXPECT_EQ(band.terms(0), (Tasks{1, 2, 3}));
  EXPECT_FALSE(band.computes(0)) << "nobody goes on before the ring is through";
  band.applied();
  EXPECT_EQ(band.task.at(0).version, 1);
  band.done(3);
  for (const int i : {0, 1, 2}) band.done(i);
  ASSERT_EQ(band.updates.size(), 2u);
  EXPECT_EQ(band.terms(1), (Tasks{4, 5, 6, 7}));
  band.applied();
  EXPECT_EQ(band.conductor->counts().staleness_sum, 1);
}

TEST_F(RingTest, AChildGoesOnWithoutItsRingButNotFarAhead) {
  TestBand band(all_reduce(), 4, three_and_a_child_);
  band.done(3);
  EXPECT_EQ(band.task.at(3).number, 5) << "at once";
  band.done(3);
  EXPECT_EQ(band.started.size(), 5u) << "two of its gradients wait for the ring";
  for (const int i : {0, 1, 2}) band.done(i);
  EXPECT_EQ(band.terms(0), (Tasks{1, 2, 3, 4, 5}));
  band.applied();
  EXPECT_EQ(band.task.at(3).version, 1);
  for (const int i : {0, 1, 2}) band.done(i);
  const auto started = band.started.size();
  band.done(3);
  EXPECT_EQ(band.started.size(), started) << "its parent is summing";
  band.applied();
  EXPECT_EQ(band.task.at(3).version, 2);
  EXPECT_EQ(band.terms(1).size(), 3u);
  for (const int i : {0, 1, 2}) band.done(i);
  EXPECT_EQ(band.terms(2).size(), 4u);
}

TEST_F(RingTest, WhoIsLostWithItsParentsGradientsHasNoneKept) {
  TestBand band(all_reduce(), 4, three_and_a_child_);
  band.done(3);
  band.done(3);
  band.leave(0);
  EXPECT_EQ(band.conductor->counts().lost, 3);
  ASSERT_EQ(band.started.size(), 6u);
  band.done(3);
  EXPECT_EQ(band.started.size(), 7u) << "one of its gradients waits for the ring";
  band.done(3);
  EXPECT_EQ(band.started.size(), 7u);
}

TEST_F(RingTest, AFailedUpdateIsMadeAgainWithoutTheLost) {
  TestBand band(all_reduce(), 4, three_and_a_child_);
  band.done(3);
  for (const int i : {0, 1, 2}) band.done(i);
  EXPECT_EQ(band.terms(0), (Tasks{1, 2, 3, 4}));
  band.failed({w(0)});
  ASSERT_EQ(band.updates.size(), 2u);
  EXPECT_EQ(band.updates[1].update.version, 1);
  EXPECT_EQ(band.terms(1), (Tasks{2, 3})) << "the child's lay at the one who is lost";
  EXPECT_EQ(band.rings.back().ring, (Workers{w(1), w(2)}));
  band.applied();
  EXPECT_EQ(band.conductor->counts().lost, 2);
  EXPECT_EQ(band.conductor->counts().updates, 1);
  EXPECT_TRUE(band.computes(1) && band.computes(2) && band.computes(3));
  EXPECT_EQ(band.task.at(1).samples.first, 0) << "what was lost comes first";
}

TEST_F(RingTest, AnUpdateThatFailedForNoKnownReasonIsMadeAgainInANewRing) {
  TestBand band(all_reduce(), 3, {.rule = SyncRuleKind::Ring});
  for (const int i : {0, 1, 2}) band.done(i);
  band.failed({});
  EXPECT_EQ(band.rings.size(), 2u);
  EXPECT_GT(band.rings[1].epoch, band.rings[0].epoch);
  EXPECT_EQ(band.terms(1), band.terms(0));
}

TEST_F(RingTest, WhatOneWhoLeavesHadHandedInIsLostWithIt) {
  TestBand band(all_reduce(), 4, three_and_a_child_);
  band.done(3);
  band.done(0);
  band.leave(0);
  EXPECT_EQ(band.conductor->counts().lost, 2) << "its child's lay there too";
  EXPECT_TRUE(band.computes(3));
  band.done(1);
  band.done(2);
  EXPECT_EQ(band.terms(0), (Tasks{2, 3}));
}

TEST_F(RingTest, AChildsGradientThatLiesWhereNobodyIsAnyMoreIsNotUsed) {
  TestBand band(all_reduce(), 4, three_and_a_child_);
  for (const int i : {0, 1, 2}) band.done(i);
  band.leave(0);
  band.done(3);
  ASSERT_EQ(band.drops.size(), 1u);
  EXPECT_EQ(band.drops[0].task, 4);
  band.applied();
  EXPECT_EQ(band.task.at(3).number, 7);
  EXPECT_EQ(band.task.at(1).samples.first, 6) << "the child's samples are done again";
}

TEST_F(RingTest, AnUpdateThatNobodyIsLeftForIsNoMore) {
  TestBand band(all_reduce(), 2, {.rule = SyncRuleKind::Ring});
  band.done(0);
  band.done(1);
  band.failed({w(0), w(1)});
  EXPECT_EQ(band.updates.size(), 1u);
  band.applied();
  EXPECT_EQ(band.conductor->counts().refused, 1);
  EXPECT_TRUE(band.director->updates.empty());
  band.join(2);
  EXPECT_EQ(band.task.at(2).version, 0);
  EXPECT_EQ(band.task.at(2).samples.first, 0);
}

TEST_F(RingTest, WhoJoinsDuringAnUpdateIsInTheNextRing) {
  TestBand band(all_reduce(), 2, {.rule = SyncRuleKind::Ring});
  band.done(0);
  band.done(1);
  band.join(2);
  EXPECT_EQ(band.rings.size(), 1u);
  EXPECT_FALSE(band.computes(2));
  band.applied();
  EXPECT_EQ(band.rings.back().ring, (Workers{w(0), w(1), w(2)}));
  EXPECT_TRUE(band.computes(2));
}

TEST_F(RingTest, TheRingChangesOnlyWhileNobodyInItComputes) {
  TestBand band(all_reduce(), 3, {.rule = SyncRuleKind::Ring});
  band.done(0);
  band.director->says = {.rule = SyncRuleKind::Ring, .ring = {w(0), w(1)}};
  band.tick();
  EXPECT_EQ(band.rings.size(), 1u);
  band.done(1);
  band.done(2);
  band.applied();
  EXPECT_EQ(band.rings.back().ring, (Workers{w(0), w(1)}));
  EXPECT_EQ(band.conductor->counts().mode_switches, 1);
}

TEST_F(RingTest, WhatChildrenHandedInMeanwhileIsDrainedBeforeTheRingChanges) {
  TestBand band(all_reduce(), 4, three_and_a_child_);
  for (const int i : {0, 1, 2}) band.done(i);
  band.done(3);
  band.director->says = {.rule = SyncRuleKind::Ring};
  band.applied();
  ASSERT_EQ(band.updates.size(), 2u);
  EXPECT_EQ(band.terms(1), Tasks{4});
  EXPECT_EQ(band.rings.size(), 1u);
  EXPECT_FALSE(band.computes(0));
  band.applied();
  EXPECT_EQ(band.rings.back().ring.size(), 4u);
  EXPECT_TRUE(band.computes(0) && band.computes(3));
}

TEST_F(RingTest, OtherModesMeanTheFullRing) {
  TestBand band(all_reduce(), 3, {.x = 1});
  band.done(0);
  band.done(1);
  EXPECT_TRUE(band.updates.empty());
  band.done(2);
  EXPECT_EQ(band.updates.size(), 1u);
}

TEST_F(RingTest, ItIsJustARuleWhereThereAreParameterServers) {
  TestBand band(options(), 4, three_and_a_child_);
  EXPECT_TRUE(band.rings.empty());
  EXPECT_TRUE(band.trees.empty());
  for (const int i : {0, 3, 1, 2}) band.done(i);
  EXPECT_EQ(band.terms(0), (Tasks{1, 2, 3, 4}));
}

}  // namespace
}  // namespace orrery
