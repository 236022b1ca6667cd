#include "training/sync/conductor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "training/sync/test_harness.h"

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

TEST(Conductor, SsgdUsesAllGradientsInTheOrderOfTasksNotOfArrival) {
  ConductorHarness harness(of_batch(12), 3, {});
  harness.done(2);
  harness.done(0);
  EXPECT_TRUE(harness.updates.empty());
  harness.done(1);
  ASSERT_EQ(harness.updates.size(), 1u);
  EXPECT_EQ(harness.terms(0), (Tasks{1, 2, 3}));
  EXPECT_DOUBLE_EQ(harness.updates[0].update.terms[0].weight, 1.0 / 3);
  EXPECT_EQ(harness.updates[0].update.version, 1);
  EXPECT_EQ(harness.task.at(0).version, 1);
  EXPECT_EQ(harness.task.at(0).samples.first, 12);
}

TEST(Conductor, StaticXWaitsForXAndTheOthersComputeOn) {
  ConductorHarness harness(of_batch(8), 4, {.x = 2});
  harness.done(3);
  harness.done(1);
  ASSERT_EQ(harness.updates.size(), 1u);
  EXPECT_EQ(harness.terms(0), (Tasks{2, 4}));
  EXPECT_EQ(harness.task.at(0).number, 1);
  EXPECT_EQ(harness.task.at(1).version, 1);
  harness.done(0);
  harness.done(1);
  EXPECT_EQ(harness.conductor->counts().staleness_sum, 1);
}

TEST(Conductor, AnXAboveTheNumberOfWorkersMeansAllOfThem) {
  ConductorHarness harness(of_batch(8), 2, {.x = 9});
  harness.done(0);
  EXPECT_TRUE(harness.updates.empty());
  harness.done(1);
  EXPECT_EQ(harness.updates.size(), 1u);
}

TEST(Conductor, WhenTheLastOneLeavesItIsNotWaitedFor) {
  ConductorHarness harness(of_batch(12), 3, {});
  harness.done(0);
  harness.done(1);
  harness.leave(2);
  ASSERT_EQ(harness.updates.size(), 1u);
  EXPECT_EQ(harness.terms(0), (Tasks{1, 2}));
  EXPECT_EQ(harness.conductor->counts().lost, 1);
  // What it had is handed out again before anything new.
  EXPECT_EQ(harness.task.at(0).samples.first, 8);
  EXPECT_EQ(harness.task.at(0).samples.count, 4);
  EXPECT_EQ(harness.task.at(1).samples.first, 12);
  EXPECT_EQ(harness.task.at(1).samples.count, 6);
}

TEST(Conductor, AHeldGradientIsUsedAlthoughItsWorkerLeft) {
  ConductorHarness harness(of_batch(12), 3, {});
  harness.done(0);
  harness.leave(0);
  harness.done(1);
  EXPECT_TRUE(harness.updates.empty()) << "the third is there and has not come";
  harness.done(2);
  ASSERT_EQ(harness.updates.size(), 1u);
  EXPECT_EQ(harness.terms(0), (Tasks{1, 2, 3}));
}

TEST(Conductor, ARetiringWorkerEndsItsTaskAndIsDismissed) {
  ConductorHarness harness(of_batch(12), 3, {});
  harness.retire(1);
  EXPECT_TRUE(all_of<DismissWorker>(harness.others).empty());
  for (const int worker : {0, 1, 2}) harness.done(worker);
  EXPECT_EQ(harness.terms(0), (Tasks{1, 2, 3}));
  ASSERT_EQ(all_of<DismissWorker>(harness.others).size(), 1u);
  EXPECT_EQ(harness.task.at(0).samples.count + harness.task.at(2).samples.count, 12);
  EXPECT_FALSE(harness.computes(1));
}

TEST(Conductor, WhatMakesNoSenseIsRefusedAndChangesNothing) {
  ConductorHarness harness(of_batch(8), 2, {});
  const Gradient first = harness.gradient_of(0);
  harness.say(first);
  harness.say(first);
  harness.say({.task = 99, .samples = 4});
  harness.say({.task = -1, .samples = 4});
  harness.join(1);
  harness.leave(5);
  harness.retire(5);
  EXPECT_EQ(harness.conductor->counts().refused, 6);
  EXPECT_TRUE(harness.updates.empty());
  EXPECT_TRUE(harness.drops.empty());
  const Gradient late = harness.gradient_of(1);
  harness.leave(1);
  harness.say(late);
  EXPECT_EQ(harness.conductor->counts().refused, 7);
  ASSERT_EQ(harness.drops.size(), 1u) << "what lies about is thrown away";
  EXPECT_EQ(harness.drops[0].task, late.task);
}

TEST(Conductor, ASpoiledGradientIsCountedAndItsWorkerGoesOn) {
  ConductorHarness harness(of_batch(8), 2, {});
  Gradient bad = harness.gradient_of(0);
  bad.norm2 = std::numeric_limits<double>::quiet_NaN();
  harness.say(bad);
  EXPECT_EQ(harness.conductor->counts().spoiled, 1);
  EXPECT_EQ(harness.task.at(0).number, 3);
  Gradient few = harness.gradient_of(0);
  few.samples = 1;
  harness.say(few);
  EXPECT_EQ(harness.conductor->counts().spoiled, 2);
  EXPECT_EQ(harness.drops.size(), 2u);
}

TEST(Conductor, WhatAModeHoldsGoesIntoAnUpdateOfItsOwnWhenItIsLeft) {
  ConductorHarness harness(of_batch(12), 3, {});
  harness.done(1);
  harness.director->says = {.x = 1};
  harness.tick();
  ASSERT_EQ(harness.updates.size(), 1u);
  EXPECT_EQ(harness.terms(0), (Tasks{2}));
  EXPECT_EQ(harness.conductor->counts().mode_switches, 1);
  harness.done(0);
  ASSERT_EQ(harness.updates.size(), 2u) << "tasks under way count for the new mode";
  EXPECT_EQ(harness.terms(1), (Tasks{1}));
}

TEST(Conductor, OtherSharesTakeEffectWithoutAnUpdateInBetween) {
  ConductorHarness harness(of_batch(12), 3, {});
  harness.done(1);
  harness.director->says.shares = {{WorkerId{0}, 0.5}, {WorkerId{1}, 0.25}, {WorkerId{2}, 0.25}};
  harness.tick();
  EXPECT_TRUE(harness.updates.empty());
  EXPECT_EQ(harness.conductor->counts().mode_switches, 0);
  harness.done(0);
  harness.done(2);
  EXPECT_EQ(harness.task.at(0).samples.count, 6);
  EXPECT_EQ(harness.task.at(2).samples.count, 3);
}

TEST(Conductor, EvaluatesAtEveryMultipleAndEndsWhenTheMeanOfTwoIsAtTheTarget) {
  ConductorHarness harness({.global_batch = 8, .evaluate_every = 16, .target_accuracy = 0.9}, 1,
                           {});
  for (int i = 0; i < 6; ++i) harness.done(0);
  const auto asked = all_of<EvaluateVersion>(harness.others);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].version, 2);
  EXPECT_EQ(asked[2].version, 6);
  harness.evaluated(2, 0.8);
  harness.evaluated(4, 0.95);
  harness.evaluated(6, 0.8);
  EXPECT_FALSE(harness.conductor->finished());
  harness.done(0);
  harness.evaluated(7, 1.0);
  EXPECT_TRUE(harness.conductor->finished());
  EXPECT_EQ(all_of<FinishRun>(harness.others).size(), 1u);
}

TEST(Conductor, ACheckpointHoldsEverySampleThatIsNotUsed) {
  ConductorHarness harness({.global_batch = 8, .checkpoint_every = 8}, 4, {.x = 3});
  harness.done(3);
  harness.done(0);
  harness.done(1);
  EXPECT_TRUE(all_of<SaveCheckpoint>(harness.others).empty()) << "6 samples";
  harness.done(0);
  harness.done(1);
  harness.done(3);
  ASSERT_EQ(all_of<SaveCheckpoint>(harness.others).size(), 1u);
  const ConductorState state = harness.conductor->state();
  EXPECT_EQ(state.version, 2);
  EXPECT_EQ(state.samples_done, 12);
  EXPECT_EQ(state.next_task, 8);
  EXPECT_EQ(state.next_sample, 14);
  ASSERT_EQ(state.again.size(), 1u);
  EXPECT_EQ(state.again[0].first, 4);
  EXPECT_EQ(state.again[0].count, 2);

  ConductorHarness next({.global_batch = 8}, 4, {.x = 3}, state);
  EXPECT_EQ(next.task.at(0).samples.first, 4);
  EXPECT_EQ(next.task.at(0).number, 8);
  EXPECT_EQ(next.task.at(1).samples.first, 14);
  EXPECT_EQ(next.task.at(0).version, 2);
}

TEST(Conductor, ACheckpointWaitsForNoWorkerAndAppliesHeldGradients) {
  ConductorHarness harness({.global_batch = 8, .checkpoint_every = 4}, 4,
                           {.rule = SyncRuleKind::Dynamic,
                            .groups = {{WorkerId{0}, WorkerId{1}}, {WorkerId{2}, WorkerId{3}}}});
  harness.done(2);
  harness.done(0);
  harness.done(1);
  ASSERT_EQ(harness.updates.size(), 2u);
  EXPECT_EQ(harness.terms(1), (Tasks{3}));
  EXPECT_EQ(harness.conductor->state().version, 2);
}

TEST(Conductor, EndsAfterAsManySamplesAsAskedFor) {
  ConductorHarness harness({.global_batch = 8, .samples_limit = 16, .evaluate_every = 100}, 2, {});
  for (int i = 0; i < 2; ++i) {
    harness.done(0);
    harness.done(1);
  }
  EXPECT_TRUE(harness.conductor->finished());
  EXPECT_EQ(harness.updates.size(), 2u);
  EXPECT_EQ(harness.started.size(), 4u);
  EXPECT_EQ(all_of<EvaluateVersion>(harness.others).size(), 1u) << "the end is always judged";
}

TEST(Conductor, WithAllSamplesUsedByAnEarlierSessionTrainsNoMore) {
  for (const Architecture architecture :
       {Architecture::ParameterServers, Architecture::AllReduce}) {
    const Mode mode{.rule = architecture == Architecture::AllReduce ? SyncRuleKind::Ring
                                                                    : SyncRuleKind::Static};
    ConductorHarness harness({.architecture = architecture,
                              .global_batch = 8,
                              .samples_limit = 16,
                              .evaluate_every = 100,
                              .checkpoint_every = 1000},
                             2, mode, {.version = 2, .next_sample = 16, .samples_done = 16});
    EXPECT_TRUE(harness.conductor->finished());
    EXPECT_TRUE(harness.started.empty());
    EXPECT_EQ(harness.conductor->state().version, 2);
    EXPECT_EQ(all_of<EvaluateVersion>(harness.others).size(), 1u);
    EXPECT_EQ(all_of<SaveCheckpoint>(harness.others).size(), 1u) << "each session promises one";
    EXPECT_EQ(all_of<FinishRun>(harness.others).size(), 1u);
  }
}

// Workers 0 and 1 in a ring, with the first sum under way.
ConductorHarness harness_with_a_sum_under_way() {
  ConductorHarness harness(
      {.architecture = Architecture::AllReduce, .global_batch = 8, .checkpoint_every = 1000}, 2,
      {.rule = SyncRuleKind::Ring});
  harness.done(0);
  harness.done(1);
  EXPECT_EQ(harness.updates.size(), 1u);
  harness.finish();
  EXPECT_TRUE(harness.conductor->ending());
  EXPECT_FALSE(harness.conductor->finished());
  EXPECT_TRUE(all_of<SaveCheckpoint>(harness.others).empty());
  return harness;
}

TEST(Conductor, EndsAfterTheSumThatIsUnderWay) {
  ConductorHarness harness = harness_with_a_sum_under_way();
  harness.applied();
  EXPECT_TRUE(harness.conductor->finished());
  ASSERT_EQ(all_of<SaveCheckpoint>(harness.others).size(), 1u);
  EXPECT_EQ(all_of<SaveCheckpoint>(harness.others)[0].version, 1);
  EXPECT_EQ(all_of<FinishRun>(harness.others).size(), 1u);
  EXPECT_EQ(harness.started.size(), 2u) << "no task is handed out after the end was asked for";
}

TEST(Conductor, ASumThatFailsDoesNotDelayTheEnd) {
  ConductorHarness harness = harness_with_a_sum_under_way();
  harness.failed({WorkerId{1}});
  EXPECT_TRUE(harness.conductor->finished());
  ASSERT_EQ(all_of<SaveCheckpoint>(harness.others).size(), 1u);
  EXPECT_EQ(all_of<SaveCheckpoint>(harness.others)[0].version, 0);
  EXPECT_EQ(harness.conductor->state().again.size(), 1u)
      << "the samples of the sum are handed out again";
  EXPECT_EQ(harness.updates.size(), 1u);
}

TEST(Conductor, EndsAlsoWhenEveryMemberOfTheSumLeaves) {
  ConductorHarness harness = harness_with_a_sum_under_way();
  harness.leave(0);
  harness.leave(1);
  EXPECT_TRUE(harness.conductor->finished());
  EXPECT_EQ(all_of<FinishRun>(harness.others).size(), 1u);
}

TEST(Conductor, DirectorsLearnHowStaleAGradientWasAndHowLongItTook) {
  ConductorHarness harness(of_batch(8), 2, {.x = 1});
  harness.done(0);
  harness.done(1);
  const auto seen = harness.director->iterations;
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].staleness, 0);
  EXPECT_EQ(seen[1].staleness, 1);
  EXPECT_EQ(seen[1].took, std::chrono::milliseconds(2));
  harness.conductor->applied({.version = 2, .fresh_mean_norm2 = 3}, Time{});
  ASSERT_EQ(harness.director->updates.size(), 1u);
  EXPECT_EQ(harness.director->updates[0].terms, 1);
  EXPECT_EQ(harness.director->updates[0].fresh, 0);
  EXPECT_EQ(harness.director->updates[0].fresh_mean_norm2, 3);
  harness.conductor->applied({.version = 2}, Time{});
  for (const ParameterVersion never : {3, 0, -1, 2 + 256}) {
    harness.conductor->applied({.version = never}, Time{});
  }
  EXPECT_EQ(harness.conductor->counts().refused, 5);
  EXPECT_EQ(harness.director->updates.size(), 1u);
}

TEST(Conductor, AtATickDirectorsHearOfTasksThatHaveNotEnded) {
  ConductorHarness harness(of_batch(8), 2, {});
  harness.done(1);
  EXPECT_TRUE(harness.director->under_way.empty());
  harness.tick();
  const auto seen = harness.director->under_way;
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].worker, WorkerId{0});
  EXPECT_TRUE(seen[0].computing);
  EXPECT_EQ(seen[0].took, std::chrono::milliseconds(2));
  EXPECT_EQ(seen[0].samples, 4);
  EXPECT_EQ(seen[1].worker, WorkerId{1});
  EXPECT_FALSE(seen[1].computing);
  EXPECT_EQ(seen[1].took, std::chrono::milliseconds(1));
  harness.done(0);
  EXPECT_TRUE(harness.director->under_way.empty()) << "at an update it is not asked for";
}

TEST(Conductor, WhatAWorkerMeasuredBadlyIsTakenAsNotMeasured) {
  ConductorHarness harness(of_batch(8), 1, {});
  Gradient odd = harness.gradient_of(0);
  odd.usage = {.cpu_share = 0.5, .in_bytes_per_s = std::numeric_limits<double>::infinity()};
  harness.say(odd);
  EXPECT_EQ(harness.director->iterations.back().usage.cpu_share, 0.5);
  EXPECT_EQ(harness.director->iterations.back().usage.in_bytes_per_s, 0);
}

TEST(Conductor, AParentHandsInForItsChildren) {
  ConductorHarness harness(of_batch(8), 4, {.parents = {{WorkerId{1}, WorkerId{0}}}});
  ASSERT_EQ(harness.trees.size(), 1u);
  harness.done(2);
  harness.done(0, {1});
  EXPECT_TRUE(harness.updates.empty());
  harness.done(3);
  ASSERT_EQ(harness.updates.size(), 1u);
  EXPECT_EQ(harness.terms(0), (Tasks{1, 3, 4}));
  EXPECT_DOUBLE_EQ(harness.updates[0].update.terms[0].weight, 0.5);
  EXPECT_EQ(harness.conductor->counts().gradients, 4);
  EXPECT_EQ(harness.task.at(1).number, 6);
  for (const IterationSample& seen : harness.director->iterations) {
    EXPECT_EQ(seen.merged, seen.worker == WorkerId{1});
  }
}

TEST(Conductor, NoTaskIsMergedTwice) {
  ConductorHarness harness(of_batch(8), 4, {.parents = {{WorkerId{1}, WorkerId{0}}}});
  harness.done(0, {1, 1});
  EXPECT_EQ(harness.drops.size(), 1u);
  EXPECT_EQ(harness.conductor->counts().lost, 2);
  harness.done(0, {0});
  EXPECT_EQ(harness.drops.size(), 2u) << "nor into itself";
  EXPECT_EQ(harness.conductor->counts().lost, 3);
}

TEST(Conductor, WhatWasHandedInByItselfIsNotMergedToo) {
  ConductorHarness harness(of_batch(8), 4, {.parents = {{WorkerId{1}, WorkerId{0}}}});
  harness.done(1);
  harness.done(0, {1});
  EXPECT_EQ(harness.drops.size(), 1u);
  EXPECT_EQ(harness.conductor->counts().lost, 1);
  for (const int worker : {0, 2, 3}) harness.done(worker);
  EXPECT_EQ(harness.terms(0), (Tasks{2, 3, 4, 5}));
}

TEST(Conductor, AMergedGradientWithThatOfAWorkerThatLeftIsNotUsed) {
  ConductorHarness harness(of_batch(8), 4, {.parents = {{WorkerId{1}, WorkerId{0}}}});
  const Task child = harness.task.at(1);
  harness.leave(1);
  Gradient both = harness.gradient_of(0);
  both.merged = {child.number};
  both.samples += child.samples.count;
  harness.say(both);
  EXPECT_EQ(harness.drops.size(), 1u);
  EXPECT_EQ(harness.conductor->counts().lost, 2);
  EXPECT_EQ(harness.task.at(0).samples.first, 0) << "its own samples are done again";
}

TEST(Conductor, TheStateOfAnUpdateHandsOutAgainWhatIsNotInIt) {
  ConductorOptions options = of_batch(12);
  options.states_with_updates = true;
  ConductorHarness harness(options, 3, {.x = 1});
  harness.done(1);
  harness.done(2);
  harness.done(1);
  ASSERT_EQ(harness.updates.size(), 3u);
  const ConductorState& first = harness.updates[0].state;
  EXPECT_EQ(first.version, 1);
  EXPECT_EQ(first.samples_done, 4);
  EXPECT_EQ(first.gradients_done, 1);
  EXPECT_EQ(harness.updates[2].state.version, 3);
  // Another Conductor that goes on from there uses every position once.
  ConductorHarness next(of_batch(12), 2, {.x = 2}, harness.updates[2].state);
  for (int i = 0; i < 2; ++i) {
    next.done(0);
    next.done(1);
  }
  std::vector<int> uses(24);
  for (const auto* const used : {&harness.updates, &next.updates}) {
    for (const ApplyUpdate& update : *used) {
      for (const Task& task : update.tasks) {
        for (int i = 0; i < task.samples.count; ++i) {
          const auto at = static_cast<std::size_t>(task.samples.first + i);
          if (at < uses.size()) ++uses[at];
        }
      }
    }
  }
  for (std::size_t at = 0; at < uses.size(); ++at) EXPECT_EQ(uses[at], 1) << at;
}

TEST(Conductor, ACheckpointIsOrderedWhenItIsAskedFor) {
  ConductorHarness harness(of_batch(12), 3, {.x = 3});
  harness.done(0);
  harness.conductor->save(Time{});
  const auto orders = harness.conductor->take_orders();
  // What the mode holds is applied first.
  ASSERT_EQ(all_of<ApplyUpdate>(orders).size(), 1u);
  ASSERT_EQ(all_of<SaveCheckpoint>(orders).size(), 1u);
  EXPECT_EQ(all_of<SaveCheckpoint>(orders)[0].version, 1);
  EXPECT_EQ(harness.conductor->state().samples_done, 4);
}

}  // namespace
}  // namespace orrery
