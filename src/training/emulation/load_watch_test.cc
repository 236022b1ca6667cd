#include "training/emulation/load_watch.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr double kCores = 2;

// Two servers of 0.4 cores, read once a second.
class Readings {
 public:
  MachineLoad after(int seconds, double busy, double used = 0.4, double starved = 0,
                    double own = 0.1) {
    for (int i = 0; i < seconds; ++i) {
      now_.at_s += 1;
      now_.machine_busy_s += busy;
      now_.own_s += own;
      for (auto& server : now_.servers) server.cpu_s += used, server.starved_s += starved;
      tally_.add(now_);
    }
    return tally_.load(kCores);
  }

 private:
  LoadSample now_{.at_s = 100,
                  .machine_busy_s = 5000,
                  .own_s = 3,
                  .servers = {{.cpu_s = 9, .starved_s = 1, .cores = 0.4},
                              {.cpu_s = 0, .starved_s = 0, .cores = 0.4}}};
  LoadTally tally_ = [this] {
    LoadTally tally(0.8, 2);
    tally.add(now_);
    return tally;
  }();
};

TEST(LoadWatch, ReadsAllWorkOfTheMachineAndWhatTheHostTook) {
  EXPECT_DOUBLE_EQ(machine_busy_s("cpu  100 20 30 5000 400 5 5 40 0 0\ncpu0 1 2 3\n", 100), 2);
}

TEST(LoadWatch, AMachineToOurselvesIsTrusted) {
  const MachineLoad load = Readings().after(10, 0.9);
  EXPECT_NEAR(load.others, 0, 1e-9);
  EXPECT_NEAR(load.own, 0.1, 1e-9);
  EXPECT_TRUE(load.trusted) << load.why;
}

TEST(LoadWatch, OtherLoadBesideWhichTheQuotasFitDoesNoHarm) {
  const MachineLoad load = Readings().after(10, 1.9);
  EXPECT_NEAR(load.others, 1, 1e-9);
  EXPECT_TRUE(load.trusted) << load.why;
}

TEST(LoadWatch, OtherLoadThatLeavesTooLittleForTheQuotasSpoilsTheRunEvenIfTheyWereNotUsed) {
  const MachineLoad load = Readings().after(10, 1.6, 0.1);
  EXPECT_NEAR(load.others, 1.3, 1e-9);
  EXPECT_NEAR(load.overfull, 1, 1e-9);
  EXPECT_FALSE(load.trusted);
  EXPECT_NE(load.why.find("the quotas did not fit 100 % of the time"), std::string::npos);
}

TEST(LoadWatch, AMomentOfOthersIsForgivenAndATenthOfTheTimeIsNot) {
  Readings readings;
  readings.after(97, 0.9);
  EXPECT_TRUE(readings.after(3, 2, 0.1).trusted);
  EXPECT_FALSE(readings.after(10, 2, 0.1).trusted);
}

TEST(LoadWatch, ServersThatWaitForCoresOrExceedTheirQuotasSpoilTheRun) {
  const MachineLoad starved = Readings().after(10, 0.9, 0.4, 0.2);
  EXPECT_NEAR(starved.starved, 0.2, 1e-9);
  EXPECT_FALSE(starved.trusted);
  const MachineLoad excess = Readings().after(10, 1.1, 0.5);
  EXPECT_NEAR(excess.excess, 0.25, 1e-9);
  EXPECT_FALSE(excess.trusted);
}

TEST(LoadWatch, QuotasBeyondTheMachineAreNeverTrustedNorIsNoTimeAtAll) {
  LoadTally tally(2.5, 0);
  EXPECT_FALSE(tally.load(kCores).trusted);
  tally.add({.at_s = 1});
  tally.add({.at_s = 2});
  EXPECT_NE(tally.load(kCores).why.find("quotas are 2.50 cores"), std::string::npos);
}

}  // namespace
}  // namespace orrery
