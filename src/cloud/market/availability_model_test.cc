#include "cloud/market/availability_model.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using std::chrono::minutes;

ZoneSet zones_of(std::uint64_t bits) { return ZoneSet(bits); }

void observe(AvailabilityModel& model, std::uint64_t bits, int ticks) {
  for (int i = 0; i < ticks; ++i) model.observe(zones_of(bits));
}

TEST(AvailabilityModel, OldCapacityLastsLongerThanFresh) {
  AvailabilityModel model(2, minutes(5));
  observe(model, 0b01, 120);
  observe(model, 0b11, 1);
  EXPECT_GT(model.survival(0, 0, 2), model.survival(1, 0, 2) + 0.2);
  EXPECT_GT(model.survival(1, 5, 2), model.survival(1, 0, 2));
}

TEST(AvailabilityModel, AZoneThatFlickersIsExpectedToBeLostSooner) {
  AvailabilityModel model(2, minutes(5));
  for (int i = 0; i < 40; ++i) {
    observe(model, 0b11, 3);
    observe(model, 0b10, 1);
  }
  observe(model, 0b00, 1);
  observe(model, 0b11, 1);  // of one age
  EXPECT_LT(model.survival(0, 0, 1), model.survival(1, 0, 1) - 0.1);
}

TEST(AvailabilityModel, ShortGapsRaiseTheRateOfReturn) {
  AvailabilityModel model(1, minutes(5));
  const double before = model.rates().returns;
  for (int i = 0; i < 20; ++i) {
    observe(model, 1, 10);
    observe(model, 0, 1);
  }
  EXPECT_GT(model.rates().returns, 2 * before);
}

TEST(AvailabilityModel, ASecondChanceNeedsASecondZone) {
  AvailabilityModel alone(1, minutes(5));
  EXPECT_EQ(alone.rates().mature_chance + alone.rates().fresh_chance, 0);
  AvailabilityModel three(3, minutes(5));
  EXPECT_GT(three.rates().mature_chance, 0.5);
  for (int i = 0; i < 40; ++i) {
    observe(three, 0b111, 6);
    observe(three, 0, 6);  // all are lost at once
  }
  EXPECT_LT(three.rates().mature_chance + three.rates().fresh_chance, 0.1);
}

TEST(AvailabilityModel, WhatIsOldIsForgotten) {
  AvailabilityModel model(1, minutes(5));
  for (int i = 0; i < 100; ++i) {
    observe(model, 1, 2);
    observe(model, 0, 2);
  }
  const double flickering = model.rates().fresh_loss;
  observe(model, 1, 12 * 24 * 10);
  EXPECT_LT(model.rates().fresh_loss, flickering / 2);
}

TEST(SpotValue, MoreSlackAndLessWorkCostNoMore) {
  const SpotJob job{.work = std::chrono::hours(20),
                    .deadline = std::chrono::hours(28),
                    .changeover = minutes(15)};
  SpotValue value(job, 64, 32);
  value.solve(AvailabilityModel(2, minutes(5)).rates());
  for (int state = 0; state < SpotValue::States; ++state) {
    const auto at = [&](double work, double slack) {
      return value.at(static_cast<SpotValue::State>(state), work, slack);
    };
    EXPECT_NEAR(at(0, 3), 0, 1e-12);
    for (double work = 2; work <= 20; work += 3) {
      EXPECT_LE(at(work, 6), at(work, 3) + 1e-9);
      EXPECT_LT(at(work - 1, 3), at(work, 3));
      // Never above on demand to the end, never below spot without a loss.
      EXPECT_LE(at(work, 0), work + 0.25 + 1e-9);
      EXPECT_GE(at(work, 7), work / 3 - 1e-9);
    }
  }
}

TEST(SpotValue, WithoutLossesASpotMachineCostsItsPrice) {
  const SpotJob job{.work = std::chrono::hours(20),
                    .deadline = std::chrono::hours(28),
                    .changeover = minutes(15)};
  SpotValue value(job, 64, 32);
  value.solve({.fresh_loss = 0, .mature_loss = 0, .returns = 1});
  EXPECT_NEAR(value.at(SpotValue::HeldMature, 20, 4), 20.0 / 3, 1e-9);
  EXPECT_NEAR(value.at(SpotValue::Mature, 20, 4), 20.25 / 3, 1e-9);
  EXPECT_NEAR(value.at(SpotValue::Gap, 20, 0), 20.25, 1e-9);  // no slack to wait or to change
}

}  // namespace
}  // namespace orrery
