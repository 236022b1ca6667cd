#include "training/colocation/server_book.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "training/colocation/grant_decision.h"

namespace orrery {
namespace {

constexpr JobId kAsker{7};
constexpr JobId kOther{2};
constexpr ServerId kServer{0};

BookedTask worker(int number, double cpu, double task_s, ServerId server = kServer) {
  return {.number = number, .server = server, .limit = {.cpu = cpu}, .task_s = task_s};
}
BookedTask shard(int number, double cpu, ServerId server = kServer) {
  return {.number = number, .server = server, .makes_updates = true, .limit = {.cpu = cpu}};
}

// A server of 10 cores; the asker's shard holds 2 and would need 4 at twice the rate of updates.
SharedServerBook book_with(const BookedJob& other, double left_s = 100) {
  SharedServerBook book;
  book.add_server(kServer, {.cpu = 10});
  book.put({.job = kAsker, .tasks = {shard(0, 2)}, .left_s = left_s});
  book.put(other);
  return book;
}
constexpr LooserMode kTwice{.job = kAsker, .rate_ratio = 2, .time_saved = 0.5};

TEST(SharedServerBook, WhatFitsIsGranted) {
  SharedServerBook book = book_with({.job = kOther, .tasks = {worker(0, 6, 1)}, .left_s = 1000});
  const Consideration decided = book.consider(kTwice);
  ASSERT_TRUE(decided.granted);
  EXPECT_DOUBLE_EQ(decided.cost_s, 0);
  ASSERT_EQ(decided.changes.size(), 1u);
  EXPECT_DOUBLE_EQ(decided.changes[0].limit.cpu, 4);
  EXPECT_DOUBLE_EQ(book.held(kServer).cpu, 10);
  EXPECT_FALSE(book.has_lent(kOther));
}

TEST(SharedServerBook, AWorkerThatWaitsAnywayGivesFirstAndLosesNothing) {
  // Worker 0 is done in half the time of worker 1, which is on another server.
  SharedServerBook book = book_with(
      {.job = kOther, .tasks = {worker(0, 8, 1), worker(1, 8, 2, ServerId{1})}, .left_s = 1000});
  const Consideration decided = book.consider(kTwice);
  ASSERT_TRUE(decided.granted) << decided.reason;
  EXPECT_DOUBLE_EQ(decided.cost_s, 0);
  EXPECT_NEAR(book.find(kOther)->tasks[0].limit.cpu, 6, 1e-9);
  EXPECT_NEAR(book.held(kServer).cpu, 10, 1e-9);
  EXPECT_TRUE(book.has_lent(kOther));
}

TEST(SharedServerBook, NoWorkerHasTimeToSpareWhereNoneWaits) {
  SharedServerBook book = book_with({.job = kOther,
                                     .tasks = {worker(0, 8, 1), worker(1, 8, 2, ServerId{1})},
                                     .waits_for_all = false,
                                     .left_s = 10});
  const Consideration decided = book.consider(kTwice);
  ASSERT_TRUE(decided.granted);
  EXPECT_GT(decided.cost_s, 0);
}

TEST(SharedServerBook, RefusesWhatCostsOthersMoreThanItGains) {
  // A quarter of the other's only worker: a third slower, for 1000 s.
  SharedServerBook costly = book_with({.job = kOther, .tasks = {worker(0, 8, 1)}, .left_s = 1000});
  const Consideration refused = costly.consider(kTwice);
  EXPECT_FALSE(refused.granted);
  EXPECT_NEAR(refused.cost_s, 1000.0 / 3, 1e-6);
  EXPECT_DOUBLE_EQ(refused.gain_s, 50);
  EXPECT_DOUBLE_EQ(costly.held(kServer).cpu, 10) << "a refusal changes nothing";

  SharedServerBook cheap = book_with({.job = kOther, .tasks = {worker(0, 8, 1)}, .left_s = 30});
  const Consideration granted = cheap.consider(kTwice);
  EXPECT_TRUE(granted.granted);
  EXPECT_NEAR(granted.cost_s, 10, 1e-6);
}

TEST(SharedServerBook, AServerThatWasOverfullIsNoDebtOfTheAskers) {
  SharedServerBook book = book_with({.job = kOther, .tasks = {worker(0, 10, 1)}, .left_s = 10});
  ASSERT_TRUE(book.consider(kTwice).granted);
  EXPECT_NEAR(book.find(kOther)->tasks[0].limit.cpu, 8, 1e-9);
  EXPECT_NEAR(book.held(kServer).cpu, 12, 1e-9) << "as before";
}

TEST(SharedServerBook, TheLessSensitiveGivesMore) {
  BookedJob tough{.job = JobId{3}, .tasks = {worker(0, 4, 1)}, .left_s = 10};
  BookedJob tender = tough;
  tender.job = JobId{4};
  for (int i = 0; i < 50; ++i) tough.sensitivity.add(0.3, 0.02);
  SharedServerBook book;
  book.add_server(kServer, {.cpu = 10});
  book.put({.job = kAsker, .tasks = {shard(0, 2)}, .left_s = 100});
  book.put(tough);
  book.put(tender);
  ASSERT_TRUE(book.consider(kTwice).granted);
  const double tough_gave = 4 - book.find(JobId{3})->tasks[0].limit.cpu;
  const double tender_gave = 4 - book.find(JobId{4})->tasks[0].limit.cpu;
  EXPECT_GT(tough_gave, 2 * tender_gave);
  EXPECT_NEAR(tough_gave + tender_gave, 2, 1e-9);
}

TEST(SharedServerBook, WhatWasTakenComesBackWhenTheJobReturnsOrEnds) {
  const BookedJob other{
      .job = kOther, .tasks = {worker(0, 8, 1), worker(1, 8, 2, ServerId{1})}, .left_s = 100};
  for (const bool ends : {false, true}) {
    SharedServerBook book = book_with(other);
    ASSERT_TRUE(book.consider(kTwice).granted);
    const std::vector<LimitChange> back = ends ? book.remove(kAsker) : book.withdraw(kAsker);
    EXPECT_EQ(back.size(), ends ? 1u : 2u);
    EXPECT_NEAR(book.find(kOther)->tasks[0].limit.cpu, 8, 1e-9);
    EXPECT_FALSE(book.has_lent(kOther));
    EXPECT_TRUE(book.withdraw(kAsker).empty());
  }
}

TEST(SharedServerBook, AJobThatHasLentKeepsItsOwnMode) {
  SharedServerBook book =
      book_with({.job = kOther,
                 .tasks = {worker(0, 7, 1), worker(1, 8, 2, ServerId{1}), shard(2, 1)},
                 .left_s = 1000});
  ASSERT_TRUE(book.consider(kTwice).granted);
  EXPECT_FALSE(book.consider({.job = kOther, .rate_ratio = 2, .time_saved = 0.9}).granted);
}

TEST(SharedServerBook, ReportsOfAJobDoNotUndoAGrant) {
  const BookedJob other{
      .job = kOther, .tasks = {worker(0, 8, 1), worker(1, 8, 2, ServerId{1})}, .left_s = 100};
  SharedServerBook book = book_with(other);
  ASSERT_TRUE(book.consider(kTwice).granted);
  book.put(other);
  EXPECT_NEAR(book.find(kOther)->tasks[0].limit.cpu, 6, 1e-9);
}

TEST(SharedServerBook, AskingAgainReplacesTheGrant) {
  SharedServerBook book = book_with({.job = kOther, .tasks = {worker(0, 2, 1)}, .left_s = 10});
  ASSERT_TRUE(book.consider({.job = kAsker, .rate_ratio = 4, .time_saved = 0.5}).granted);
  EXPECT_NEAR(book.find(kAsker)->tasks[0].limit.cpu, 8, 1e-9);
  const Consideration second = book.consider(kTwice);
  ASSERT_TRUE(second.granted);
  ASSERT_EQ(second.changes.size(), 1u);
  EXPECT_NEAR(second.changes[0].before.cpu, 8, 1e-9);
  EXPECT_NEAR(second.changes[0].limit.cpu, 4, 1e-9);
  book.withdraw(kAsker);
  EXPECT_NEAR(book.find(kAsker)->tasks[0].limit.cpu, 2, 1e-9);
}

TEST(SharedServerBook, WhatIsMeasuredCountsForMoreThanProportion) {
  BookedJob asker{.job = kAsker, .tasks = {shard(0, 2)}, .left_s = 100};
  // Twice the updates took a quarter more.
  for (int i = 0; i < 10; ++i) {
    asker.extra.add(1, {.cpu = 2});
    asker.extra.add(2, {.cpu = 2.5});
  }
  SharedServerBook book;
  book.add_server(kServer, {.cpu = 10});
  book.put(asker);
  ASSERT_TRUE(book.consider({.job = kAsker, .rate_ratio = 5, .time_saved = 0.5}).granted);
  EXPECT_NEAR(book.find(kAsker)->tasks[0].limit.cpu, 4, 1e-6);
}

// Random books and requests: the laws of the header, whatever happens.
TEST(SharedServerBook, KeepsItsLawsWhateverIsAsked) {
  Random random(2024);
  int granted = 0;
  int refused = 0;
  for (int world = 0; world < 300; ++world) {
    SharedServerBook book;
    const int servers = static_cast<int>(random.between(1, 4));
    for (int s = 0; s < servers; ++s) {
      book.add_server(ServerId{s}, {.cpu = 8, .in = 100, .out = 100});
    }
    const auto place = [&](BookedTask task) {
      const ServerId server{static_cast<int>(random.between(0, servers - 1))};
      const Load limit{0.2 + 2 * random.uniform(), 20 * random.uniform(), 20 * random.uniform()};
      if (!(book.held(server) + limit).fits(book.capacity(server))) return task;
      task.server = server;
      task.limit = limit;
      return task;
    };
    const int jobs = static_cast<int>(random.between(2, 6));
    for (int j = 0; j < jobs; ++j) {
      BookedJob job{.job = JobId{j}, .left_s = 500 * random.uniform()};
      job.waits_for_all = random.uniform() < 0.7;
      job.sensitivity.add(0.3, random.uniform());
      for (int t = 0; t < 4; ++t) {
        BookedTask task{.number = t, .makes_updates = t == 0, .task_s = t * random.uniform()};
        task = place(task);
        if (!(task.limit == Load{})) job.tasks.push_back(task);
        book.put(job);
      }
    }
    for (int step = 0; step < 30; ++step) {
      const JobId job{static_cast<int>(random.between(0, jobs - 1))};
      if (random.uniform() < 0.3) {
        book.withdraw(job);
      } else {
        const Consideration decided = book.consider(
            {.job = job, .rate_ratio = 1 + 7 * random.uniform(), .time_saved = random.uniform()});
        (decided.granted ? granted : refused) += 1;
        EXPECT_TRUE(!decided.granted || decided.cost_s < decided.gain_s);
      }
      for (int s = 0; s < servers; ++s) {
        EXPECT_TRUE(book.held(ServerId{s}).fits(book.capacity(ServerId{s})))
            << "world " << world << " step " << step;
      }
    }
    // What is given back is what was taken.
    for (int j = 0; j < jobs; ++j) book.withdraw(JobId{j});
    for (int j = 0; j < jobs; ++j) EXPECT_FALSE(book.has_lent(JobId{j}));
  }
  EXPECT_GT(granted, 500);
  EXPECT_GT(refused, 500);
}

double cost_of(const std::vector<Donor>& donors, const std::vector<double>& taken) {
  double sum = 0;
  for (std::size_t i = 0; i < donors.size(); ++i) {
    const double cut = taken[i] / donors[i].limit;
    sum += donors[i].weight * cut / (1 - cut);
  }
  return sum;
}

TEST(CheapestCuts, NoOtherDivisionIsCheaper) {
  Random random(99);
  for (int round = 0; round < 100; ++round) {
    std::vector<Donor> donors;
    double most = 0;
    for (int i = 0; i < 3; ++i) {
      const double limit = 0.5 + 4 * random.uniform();
      donors.push_back({.limit = limit,
                        .weight = std::exp(6 * random.uniform() - 3),
                        .most = limit * (0.2 + 0.6 * random.uniform())});
      most += donors.back().most;
    }
    const double missing = most * random.uniform();
    const std::vector<double> taken = cheapest_cuts(donors, missing);
    ASSERT_EQ(taken.size(), 3u);
    EXPECT_NEAR(taken[0] + taken[1] + taken[2], missing, 1e-9);
    const double best = cost_of(donors, taken);
    constexpr int kSteps = 60;
    for (int a = 0; a <= kSteps; ++a) {
      for (int b = 0; b <= kSteps; ++b) {
        const double first = donors[0].most * a / kSteps;
        const double second = donors[1].most * b / kSteps;
        const double third = missing - first - second;
        if (third < 0 || third > donors[2].most) continue;
        EXPECT_GE(cost_of(donors, {first, second, third}), best * (1 - 1e-9));
      }
    }
  }
}

TEST(CheapestCuts, ADonorThatLosesNothingGivesAll) {
  const std::vector<Donor> donors = {{.limit = 4, .weight = 0, .most = 2},
                                     {.limit = 4, .weight = 1, .most = 2}};
  const std::vector<double> taken = cheapest_cuts(donors, 1);
  EXPECT_NEAR(taken[0], 1, 1e-6);
  EXPECT_NEAR(taken[1], 0, 1e-6);
}

TEST(CheapestCuts, NothingIsTakenWhereThereIsTooLittle) {
  const std::vector<Donor> donors = {{.limit = 4, .weight = 1, .most = 2}};
  EXPECT_TRUE(cheapest_cuts(donors, 2.5).empty());
}

TEST(Meters, SensitivityIsWhatCutsDid) {
  SensitivityMeter meter;
  for (int i = 0; i < 200; ++i) meter.add(0.25, 0.1);  // a third of odds, a tenth slower
  EXPECT_NEAR(meter.sensitivity(), 0.3, 0.01);
  EXPECT_NEAR(meter.slowdown(0.25), 0.1, 0.005);
}

TEST(Meters, ExtraIsInProportionUntilOtherRatesWereSeen) {
  ExtraMeter meter;
  meter.add(1, {.cpu = 2, .in = 10});
  EXPECT_NEAR(meter.extra(3).cpu, 4, 1e-9);
  EXPECT_NEAR(meter.extra(3).in, 20, 1e-9);
  EXPECT_NEAR(meter.base().cpu, 2, 1e-9);
}

}  // namespace
}  // namespace orrery
