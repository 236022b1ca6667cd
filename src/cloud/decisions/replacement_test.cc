#include "cloud/decisions/replacement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

ReplacementCandidate candidate(OfferClass offer_class, double usd_per_hour, Lifetime lifetime,
                               double steps_per_s = 4) {
  return {.offer = {.zone = "a",
                    .machine_type = "m",
                    .gpu = "K80",
                    .gpus = 1,
                    .offer_class = offer_class,
                    .price_usd_per_hour = usd_per_hour},
          .steps_per_s = steps_per_s,
          .startup = seconds(100),
          .lifetime = std::move(lifetime)};
}

const Lifetime kForever = Lifetime::exponential(0);

// Four workers at 4 steps/s were five; 160,000 steps are 10,000 s for four.
RemainingWork work() {
  return {.steps = 160'000, .sum_steps_per_s = 16, .usd_per_hour = 3.6, .losses = 1};
}

TEST(Replacement, GoingOnTakesTheStepsAtTheSpeedLeft) {
  const ReplacementEstimate estimate = estimate_going_on(work());
  EXPECT_DOUBLE_EQ(estimate.seconds, 10'000);
  EXPECT_DOUBLE_EQ(estimate.usd, 10);
  EXPECT_DOUBLE_EQ(estimate.usd_per_step, 10 / 160'000.0);
}

TEST(Replacement, AServerThatLivesIsCountedFromItsStartUp) {
  // 100 s at 16 steps/s, and the rest at 20.
  const auto estimate = estimate_with(work(), candidate(OfferClass::OnDemand, 3.6, kForever));
  const double time_s = 100 + (160'000 - 1600) / 20.0;
  EXPECT_NEAR(estimate.seconds, time_s, 1e-6);
  EXPECT_NEAR(estimate.usd, time_s * 2 / 1000, 1e-9);
}

// An exponential lifetime has a closed form: the work done by t is 16 t + 4 (S-integral).
TEST(Replacement, ARevocableServerIsCountedByItsSurvival) {
  const double rate_per_s = 1 / 3600.0;
  const auto estimate =
      estimate_with(work(), candidate(OfferClass::Spot, 3.6, Lifetime::exponential(1)));
  const auto lived = [&](double t) { return (1 - std::exp(-rate_per_s * t)) / rate_per_s; };
  const double done = 16 * estimate.seconds + 4 * (lived(estimate.seconds) - lived(100));
  EXPECT_NEAR(done, 160'000, 160);
  EXPECT_NEAR(estimate.usd, estimate.seconds / 1000 + lived(estimate.seconds) / 1000, 0.01);
}

TEST(Replacement, TheCheapestPerRemainingStepIsChosen) {
  const std::vector<ReplacementCandidate> offers = {
      candidate(OfferClass::OnDemand, 0.7, kForever),
      candidate(OfferClass::Spot, 0.25, Lifetime::exponential(0.02)),
      candidate(OfferClass::Spot, 0.20, Lifetime::exponential(60)),
  };
  const auto choice =
      choose_replacement(ReplacementRule::Cheapest, work(), offers[1].offer, offers);
  EXPECT_EQ(choice.candidate, 1U);
  EXPECT_LT(choice.estimate.usd, estimate_going_on(work()).usd);
}

TEST(Replacement, NearTheEndTheJobGoesOn) {
  RemainingWork end = work();
  end.steps = 1600;  // 100 s, the start-up of a replacement
  const std::vector<ReplacementCandidate> offers = {candidate(OfferClass::Spot, 0.25, kForever)};
  EXPECT_EQ(choose_replacement(ReplacementRule::Cheapest, end, offers[0].offer, offers).candidate,
            std::nullopt);
  EXPECT_EQ(choose_replacement(ReplacementRule::OnDemand, end, offers[0].offer, offers).candidate,
            std::nullopt);
}

TEST(Replacement, AFullParameterServerIsNoReasonForMoreWorkers) {
  RemainingWork full = work();
  full.cap = {.steps_per_s = 8, .sharpness = 6};
  const std::vector<ReplacementCandidate> offers = {candidate(OfferClass::Spot, 0.25, kForever)};
  EXPECT_EQ(choose_replacement(ReplacementRule::Cheapest, full, offers[0].offer, offers).candidate,
            std::nullopt);
}

TEST(Replacement, TimeThatIsWorthMoneyBuysTheFasterServer) {
  const std::vector<ReplacementCandidate> offers = {
      candidate(OfferClass::Spot, 0.25, kForever),
      candidate(OfferClass::Spot, 3.6, kForever, 14),
  };
  RemainingWork hurried = work();
  EXPECT_EQ(choose_replacement(ReplacementRule::Cheapest, hurried, {}, offers).candidate, 0U);
  hurried.usd_per_hour_of_time = 20;
  EXPECT_EQ(choose_replacement(ReplacementRule::Cheapest, hurried, {}, offers).candidate, 1U);
}

TEST(Replacement, RulesLimitTheOffers) {
  const std::vector<ReplacementCandidate> offers = {
      candidate(OfferClass::Spot, 0.25, kForever),
      candidate(OfferClass::OnDemand, 0.7, kForever),
      candidate(OfferClass::Spot, 0.20, kForever),
  };
  const auto chosen = [&](ReplacementRule rule, int losses, const Offer& lost) {
    RemainingWork left = work();
    left.losses = losses;
    return choose_replacement(rule, left, lost, offers).candidate;
  };
  Offer other = offers[0].offer;
  other.zone = "b";
  EXPECT_EQ(chosen(ReplacementRule::GoOn, 1, offers[0].offer), std::nullopt);
  EXPECT_EQ(chosen(ReplacementRule::Same, 1, offers[1].offer), 1U);
  EXPECT_EQ(chosen(ReplacementRule::Same, 1, other), std::nullopt);
  EXPECT_EQ(chosen(ReplacementRule::CheapestSpot, 9, offers[1].offer), 2U);
  EXPECT_EQ(chosen(ReplacementRule::OnDemand, 1, offers[0].offer), 1U);
  EXPECT_EQ(chosen(ReplacementRule::FallBack, 2, offers[0].offer), 2U);
  EXPECT_EQ(chosen(ReplacementRule::FallBack, 3, offers[0].offer), 1U);
}

TEST(Replacement, AJobWithoutWorkersTakesTheLeastPerStepOfALife) {
  RemainingWork none = work();
  none.sum_steps_per_s = 0;
  none.usd_per_hour = 0.14;
  // The first costs a third, but half of its life is start-up.
  const std::vector<ReplacementCandidate> offers = {
      candidate(OfferClass::Spot, 0.25, Lifetime::fixed(seconds(110))),
      candidate(OfferClass::OnDemand, 0.7, kForever),
  };
  const auto choice = choose_replacement(ReplacementRule::Cheapest, none, {}, offers);
  EXPECT_EQ(choice.candidate, 1U);
  EXPECT_TRUE(std::isinf(estimate_with(none, offers[0]).seconds));
}

TEST(Replacement, NoStepsLeftCostNothing) {
  RemainingWork done = work();
  done.steps = 0;
  const auto one = candidate(OfferClass::Spot, 1, kForever);
  EXPECT_EQ(estimate_with(done, one).usd, 0);
  EXPECT_EQ(choose_replacement(ReplacementRule::Cheapest, done, one.offer, {&one, 1}).candidate,
            std::nullopt);
}

TEST(Replacement, RulesReadBackWhatTheyPrint) {
  for (const std::string_view word : replacement_rules()) {
    ASSERT_TRUE(replacement_rule_of(word).has_value());
    EXPECT_EQ(text_of(*replacement_rule_of(word)), word);
  }
  EXPECT_EQ(replacement_rule_of("never"), std::nullopt);
}

}  // namespace
}  // namespace orrery
