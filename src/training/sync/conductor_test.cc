#include "training/sync/conductor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "training/sync/test_band.h"

namespace orrery {
namespace {

using Tasks = std::vector<std::int64_t>;

ConductorOptions of_batch(std::int32_t global_batch) { return {.global_batch = global_batch}; }

template <class Kind>
std::vector<Kind> all_of(const std::vector<Order>& orders) {
  std::vector<Kind> found;
  for (const Order& order : orders) {
    if (const auto* const one = std::get_if<Kind>(&order)) found.push_back(*one);
  }
  return found;
}

TEST(Conductor, TrainingBeginsWhenEnoughHaveJoined) {
  Conductor conductor({.workers_first = 2, .global_batch = 10}, nullptr);
  conductor.join(WorkerId{7}, Time{});
  EXPECT_TRUE(conductor.take_orders().empty());
  conductor.join(WorkerId{3}, Time{});
  const auto orders = conductor.take_orders();
  ASSERT_EQ(orders.size(), 2u);
  const Task first = std::get<StartTask>(orders[0]).task;
  EXPECT_EQ(first.worker, WorkerId{3});
  EXPECT_EQ(first.number, 1);
  EXPECT_EQ(first.samples.first, 0);
  EXPECT_EQ(first.samples.count, 5);
}

TEST(Conductor, SsgdUsesEverybodyInTheOrderOfTasksWhoeverCameFirst) {
  TestBand band(of_batch(12), 3, {});
  band.done(2);
  band.done(0);
  EXPECT_TRUE(band.updates.empty());
  band.done(1);
  ASSERT_EQ(band.updates.size(), 1u);
  EXPECT_EQ(band.terms(0), (Tasks{1, 2, 3}));
  EXPECT_DOUBLE_EQ(band.updates[0].update.terms[0].weight, 1.0 / 3);
  EXPECT_EQ(band.updates[0].update.version, 1);
  EXPECT_EQ(band.task.at(0).version, 1);
  EXPECT_EQ(band.task.at(0).samples.first, 12);
}

TEST(Conductor, StaticXWaitsForXAndTheOthersComputeOn) {
  TestBand band(of_batch(8), 4, {.x = 2});
  band.done(3);
  band.done(1);
  ASSERT_EQ(band.updates.size(), 1u);
  EXPECT_EQ(band.terms(0), (Tasks{2, 4}));
  EXPECT_EQ(band.task.at(0).number, 1);
  EXPECT_EQ(band.task.at(1).version, 1);
  band.done(0);
  band.done(1);
  EXPECT_EQ(band.conductor->counts().staleness_sum, 1);
}

TEST(Conductor, AnXAboveTheNumberOfWorkersMeansAllOfThem) {
  TestBand band(of_batch(8), 2, {.x = 9});
  band.done(0);
  EXPECT_TRUE(band.updates.empty());
  band.done(1);
  EXPECT_EQ(band.updates.size(), 1u);
}

TEST(Conductor, WhenTheLastOneLeavesItIsNotWaitedFor) {
  TestBand band(of_batch(12), 3, {});
  band.done(0);
  band.done(1);
  band.leave(2);
  ASSERT_EQ(band.updates.size(), 1u);
  EXPECT_EQ(band.terms(0), (Tasks{1, 2}));
  EXPECT_EQ(band.conductor->counts().lost, 1);
  // What it had is handed out again before anything new.
  EXPECT_EQ(band.task.at(0).samples.first, 8);
  EXPECT_EQ(band.task.at(0).samples.count, 4);
  EXPECT_EQ(band.task.at(1).samples.first, 12);
  EXPECT_EQ(band.task.at(1).samples.count, 6);
}

TEST(Conductor, AHeldGradientIsUsedAlthoughItsWorkerLeft) {
  TestBand band(of_batch(12), 3, {});
  band.done(0);
  band.leave(0);
  band.done(1);
  EXPECT_TRUE(band.updates.empty()) << "the third is there and has not come";
  band.done(2);
  ASSERT_EQ(band.updates.size(), 1u);
  EXPECT_EQ(band.terms(0), (Tasks{1, 2, 3}));
}

TEST(Conductor, WhoRetiresEndsItsTaskAndIsDismissed) {
  TestBand band(of_batch(12), 3, {});
  band.retire(1);
  EXPECT_TRUE(all_of<DismissWorker>(band.others).empty());
  for (const int worker : {0, 1, 2}) band.done(worker);
  EXPECT_EQ(band.terms(0), (Tasks{1, 2, 3}));
  ASSERT_EQ(all_of<DismissWorker>(band.others).size(), 1u);
  EXPECT_EQ(band.task.at(0).samples.count + band.task.at(2).samples.count, 12);
  EXPECT_FALSE(band.computes(1));
}

TEST(Conductor, WhatMakesNoSenseIsRefusedAndChangesNothing) {
  TestBand band(of_batch(8), 2, {});
  const Gradient first = band.gradient_of(0);
  band.say(first);
  band.say(first);
  band.say({.task = 99, .samples = 4});
  band.say({.task = -1, .samples = 4});
  band.join(1);
  band.leave(5);
  band.retire(5);
  EXPECT_EQ(band.conductor->counts().refused, 6);
  EXPECT_TRUE(band.updates.empty());
  EXPECT_TRUE(band.drops.empty());
  const Gradient late = band.gradient_of(1);
  band.leave(1);
  band.say(late);
  EXPECT_EQ(band.conductor->counts().refused, 7);
  ASSERT_EQ(band.drops.size(), 1u) << "what lies about is thrown away";
  EXPECT_EQ(band.drops[0].task, late.task);
}

TEST(Conductor, ASpoiledGradientIsCountedAndItsWorkerGoesOn) {
  TestBand band(of_batch(8), 2, {});
  Gradient bad = band.gradient_of(0);
  bad.norm2 = std::numeric_limits<double>::quiet_NaN();
  band.say(bad);
  EXPECT_EQ(band.conductor->counts().spoiled, 1);
  EXPECT_EQ(band.task.at(0).number, 3);
  Gradient few = band.gradient_of(0);
  few.samples = 1;
  band.say(few);
  EXPECT_EQ(band.conductor->counts().spoiled, 2);
  EXPECT_EQ(band.drops.size(), 2u);
}

TEST(Conductor, WhatAModeHoldsGoesIntoAnUpdateOfItsOwnWhenItIsLeft) {
  TestBand band(of_batch(12), 3, {});
  band.done(1);
  band.director->says = {.x = 1};
  band.tick();
  ASSERT_EQ(band.updates.size(), 1u);
  EXPECT_EQ(band.terms(0), (Tasks{2}));
  EXPECT_EQ(band.conductor->counts().mode_switches, 1);
  band.done(0);
  ASSERT_EQ(band.updates.size(), 2u) << "tasks under way count for the new mode";
  EXPECT_EQ(band.terms(1), (Tasks{1}));
}

TEST(Conductor, OtherSharesTakeEffectWithoutAnUpdateInBetween) {
  TestBand band(of_batch(12), 3, {});
  band.done(1);
  band.director->says.shares = {{WorkerId{0}, 0.5}, {WorkerId{1}, 0.25}, {WorkerId{2}, 0.25}};
  band.tick();
  EXPECT_TRUE(band.updates.empty());
  EXPECT_EQ(band.conductor->counts().mode_switches, 0);
  band.done(0);
  band.done(2);
  EXPECT_EQ(band.task.at(0).samples.count, 6);
  EXPECT_EQ(band.task.at(2).samples.count, 3);
}

TEST(Conductor, EvaluatesAtEveryMultipleAndEndsWhenTheMeanOfTwoIsAtTheTarget) {
  TestBand band({.global_batch = 8, .evaluate_every = 16, .target_accuracy = 0.9}, 1, {});
  for (int i = 0; i < 6; ++i) band.done(0);
  const auto asked = all_of<EvaluateVersion>(band.others);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].version, 2);
  EXPECT_EQ(asked[2].version, 6);
  band.evaluated(2, 0.8);
  band.evaluated(4, 0.95);
  band.evaluated(6, 0.8);
  EXPECT_FALSE(band.conductor->finished());
  band.done(0);
  band.evaluated(7, 1.0);
  EXPECT_TRUE(band.conductor->finished());
  EXPECT_EQ(all_of<FinishRun>(band.others).size(), 1u);
}

TEST(Conductor, ACheckpointHoldsEverySampleThatIsNotUsed) {
  TestBand band({.global_batch = 8, .checkpoint_every = 8}, 4, {.x = 3});
  band.done(3);
  band.done(0);
  band.done(1);
  EXPECT_TRUE(all_of<SaveCheckpoint>(band.others).empty()) << "6 samples";
  band.done(0);
  band.done(1);
  band.done(3);
  ASSERT_EQ(all_of<SaveCheckpoint>(band.others).size(), 1u);
  const ConductorState state = band.conductor->state();
  EXPECT_EQ(state.version, 2);
  EXPECT_EQ(state.samples_done, 12);
  EXPECT_EQ(state.next_task, 8);
  EXPECT_EQ(state.next_sample, 14);
  ASSERT_EQ(state.again.size(), 1u);
  EXPECT_EQ(state.again[0].first, 4);
  EXPECT_EQ(state.again[0].count, 2);

  TestBand next({.global_batch = 8}, 4, {.x = 3}, state);
  EXPECT_EQ(next.task.at(0).samples.first, 4);
  EXPECT_EQ(next.task.at(0).number, 8);
  EXPECT_EQ(next.task.at(1).samples.first, 14);
  EXPECT_EQ(next.task.at(0).version, 2);
}

TEST(Conductor, ACheckpointWaitsForNobodyButDrainsWhatIsHeld) {
  TestBand band({.global_batch = 8, .checkpoint_every = 4}, 4,
                {.rule = SyncRuleKind::Dynamic,
                 .groups = {{WorkerId{0}, WorkerId{1}}, {WorkerId{2}, WorkerId{3}}}});
  band.done(2);
  band.done(0);
  band.done(1);
  ASSERT_EQ(band.updates.size(), 2u);
  EXPECT_EQ(band.terms(1), (Tasks{3}));
  EXPECT_EQ(band.conductor->state().version, 2);
}

TEST(Conductor, EndsAfterAsManySamplesAsAskedFor) {
  TestBand band({.global_batch = 8, .samples_limit = 16, .evaluate_every = 100}, 2, {});
  for (int i = 0; i < 2; ++i) {
    band.done(0);
    band.done(1);
  }
  EXPECT_TRUE(band.conductor->finished());
  EXPECT_EQ(band.updates.size(), 2u);
  EXPECT_EQ(band.started.size(), 4u);
  EXPECT_EQ(all_of<EvaluateVersion>(band.others).size(), 1u) << "the end is always judged";
}

// Workers 0 and 1 in a ring, with the first sum under way.
TestBand band_with_a_sum_under_way() {
  TestBand band(
      {.architecture = Architecture::AllReduce, .global_batch = 8, .checkpoint_every = 1000}, 2,
      {.rule = SyncRuleKind::Ring});
  band.done(0);
  band.done(1);
  EXPECT_EQ(band.updates.size(), 1u);
  band.finish();
  EXPECT_TRUE(band.conductor->ending());
  EXPECT_FALSE(band.conductor->finished());
  EXPECT_TRUE(all_of<SaveCheckpoint>(band.others).empty());
  return band;
}

TEST(Conductor, EndsAfterTheSumThatIsUnderWay) {
  TestBand band = band_with_a_sum_under_way();
  band.applied();
  EXPECT_TRUE(band.conductor->finished());
  ASSERT_EQ(all_of<SaveCheckpoint>(band.others).size(), 1u);
  EXPECT_EQ(all_of<SaveCheckpoint>(band.others)[0].version, 1);
  EXPECT_EQ(all_of<FinishRun>(band.others).size(), 1u);
  EXPECT_EQ(band.started.size(), 2u) << "no task is handed out after the end was asked for";
}

TEST(Conductor, ASumThatFailsDoesNotDelayTheEnd) {
  TestBand band = band_with_a_sum_under_way();
  band.failed({WorkerId{1}});
  EXPECT_TRUE(band.conductor->finished());
  ASSERT_EQ(all_of<SaveCheckpoint>(band.others).size(), 1u);
  EXPECT_EQ(all_of<SaveCheckpoint>(band.others)[0].version, 0);
  EXPECT_EQ(band.conductor->state().again.size(), 1u)
      << "the samples of the sum are handed out again";
  EXPECT_EQ(band.updates.size(), 1u);
}

TEST(Conductor, EndsAlsoWhenEveryMemberOfTheSumLeaves) {
  TestBand band = band_with_a_sum_under_way();
  band.leave(0);
  band.leave(1);
  EXPECT_TRUE(band.conductor->finished());
  EXPECT_EQ(all_of<FinishRun>(band.others).size(), 1u);
}

TEST(Conductor, DirectorsLearnHowStaleAGradientWasAndHowLongItTook) {
  TestBand band(of_batch(8), 2, {.x = 1});
  band.done(0);
  band.done(1);
  const auto seen = band.director->iterations;
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].staleness, 0);
  EXPECT_EQ(seen[1].staleness, 1);
  EXPECT_EQ(seen[1].took, std::chrono::milliseconds(2));
  band.conductor->applied({.version = 2, .fresh_mean_norm2 = 3}, Time{});
  ASSERT_EQ(band.director->updates.size(), 1u);
  EXPECT_EQ(band.director->updates[0].terms, 1);
  EXPECT_EQ(band.director->updates[0].fresh, 0);
  EXPECT_EQ(band.director->updates[0].fresh_mean_norm2, 3);
  band.conductor->applied({.version = 2}, Time{});
  for (const ParameterVersion never : {3, 0, -1, 2 + 256}) {
    band.conductor->applied({.version = never}, Time{});
  }
  EXPECT_EQ(band.conductor->counts().refused, 5);
  EXPECT_EQ(band.director->updates.size(), 1u);
}

TEST(Conductor, AtATickDirectorsHearOfTasksThatHaveNotEnded) {
  TestBand band(of_batch(8), 2, {});
  band.done(1);
  EXPECT_TRUE(band.director->under_way.empty());
  band.tick();
  const auto seen = band.director->under_way;
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].worker, WorkerId{0});
  EXPECT_TRUE(seen[0].computing);
  EXPECT_EQ(seen[0].took, std::chrono::milliseconds(2));
  EXPECT_EQ(seen[0].samples, 4);
  EXPECT_EQ(seen[1].worker, WorkerId{1});
  EXPECT_FALSE(seen[1].computing);
  EXPECT_EQ(seen[1].took, std::chrono::milliseconds(1));
  band.done(0);
  EXPECT_TRUE(band.director->under_way.empty()) << "at an update it is not asked for";
}

TEST(Conductor, WhatAWorkerMeasuredBadlyIsTakenAsNotMeasured) {
  TestBand band(of_batch(8), 1, {});
  Gradient odd = band.gradient_of(0);
  odd.usage = {.cpu_share = 0.5, .in_bytes_per_s = std::numeric_limits<double>::infinity()};
  band.say(odd);
  EXPECT_EQ(band.director->iterations.back().usage.cpu_share, 0.5);
  EXPECT_EQ(band.director->iterations.back().usage.in_bytes_per_s, 0);
}

TEST(Conductor, AParentHandsInForItsChildren) {
  TestBand band(of_batch(8), 4, {.parents = {{WorkerId{1}, WorkerId{0}}}});
  ASSERT_EQ(band.trees.size(), 1u);
  band.done(2);
  band.done(0, {1});
  EXPECT_TRUE(band.updates.empty());
  band.done(3);
  ASSERT_EQ(band.updates.size(), 1u);
  EXPECT_EQ(band.terms(0), (Tasks{1, 3, 4}));
  EXPECT_DOUBLE_EQ(band.updates[0].update.terms[0].weight, 0.5);
  EXPECT_EQ(band.conductor->counts().gradients, 4);
  EXPECT_EQ(band.task.at(1).number, 6);
  for (const IterationSample& seen : band.director->iterations) {
    EXPECT_EQ(seen.merged, seen.worker == WorkerId{1});
  }
}

TEST(Conductor, NobodyIsMergedTwice) {
  TestBand band(of_batch(8), 4, {.parents = {{WorkerId{1}, WorkerId{0}}}});
  band.done(0, {1, 1});
  EXPECT_EQ(band.drops.size(), 1u);
  EXPECT_EQ(band.conductor->counts().lost, 2);
  band.done(0, {0});
  EXPECT_EQ(band.drops.size(), 2u) << "nor into itself";
  EXPECT_EQ(band.conductor->counts().lost, 3);
}

TEST(Conductor, WhatWasHandedInByItselfIsNotMergedToo) {
  TestBand band(of_batch(8), 4, {.parents = {{WorkerId{1}, WorkerId{0}}}});
  band.done(1);
  band.done(0, {1});
  EXPECT_EQ(band.drops.size(), 1u);
  EXPECT_EQ(band.conductor->counts().lost, 1);
  for (const int worker : {0, 2, 3}) band.done(worker);
  EXPECT_EQ(band.terms(0), (Tasks{2, 3, 4, 5}));
}

TEST(Conductor, AGradientWithThatOfOneWhoLeftInItIsNotUsed) {
  TestBand band(of_batch(8), 4, {.parents = {{WorkerId{1}, WorkerId{0}}}});
  const Task child = band.task.at(1);
  band.leave(1);
  Gradient both = band.gradient_of(0);
  both.merged = {child.number};
  both.samples += child.samples.count;
  band.say(both);
  EXPECT_EQ(band.drops.size(), 1u);
  EXPECT_EQ(band.conductor->counts().lost, 2);
  EXPECT_EQ(band.task.at(0).samples.first, 0) << "its own samples are done again";
}

}  // namespace
}  // namespace orrery
