#include "cloud/training_model/transient_training.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

Offer machine(const std::string& zone, const std::string& gpu, OfferClass offer_class,
              double usd_per_hour) {
  return {.zone = zone,
          .machine_type = "m",
          .gpu = gpu,
          .gpus = gpu.empty() ? 0 : 1,
          .offer_class = offer_class,
          .price_usd_per_hour = usd_per_hour,
          .notice = seconds(30)};
}

const Lifetime kForever = Lifetime::exponential(0);

// Four workers at 4 steps/s and a parameter server; 16,000 steps are 1000 s. Start-up takes 100 s.
class Job {
 public:
  Job() {
    training.steps = 16'000;
    training.workers.assign(4, spot);
    training.parameter_servers = {server};
    training.speeds = {.steps_per_s = {{"K80", 4}}};
    training.replacements = {spot, firm, elsewhere};
    training.startup = seconds(100);
    training.lifetime_of = [](const Offer&) -> const Lifetime& { return kForever; };
    world.offers = {spot, firm, server, elsewhere};
    world.start_up = [](const Offer&, Random&) { return Duration(seconds(100)); };
  }

  // The servers of these names are revoked then, after a notice.
  TransientOutcome run(const std::map<std::string, Duration>& ends = {}) {
    world.revocations.clear();
    for (const auto& [name, end] : ends) {
      world.revocations.push_back({.server = name, .at = Time(end) - spot.notice});
    }
    DiscreteEventProvider provider(world);
    const auto outcome = run_training(training, provider);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    servers = provider.list("").value();
    return outcome.value();
  }

  Offer spot = machine("east-a", "K80", OfferClass::Spot, 0.36);
  Offer firm = machine("east-a", "K80", OfferClass::OnDemand, 0.72);
  Offer elsewhere = machine("east-b", "K80", OfferClass::Spot, 0.36);
  Offer server = machine("east-a", "", OfferClass::OnDemand, 0.18);
  TransientTraining training;
  ServerWorld world;
  std::vector<Server> servers;
};

TEST(TransientTraining, TakesItsStepsAtTheSumOfSpeeds) {
  Job job;
  const TransientOutcome outcome = job.run();
  EXPECT_TRUE(outcome.finished);
  EXPECT_NEAR(outcome.train_s, 1000, 1e-6);
  EXPECT_NEAR(outcome.wait_s, 100, 1e-9);
  EXPECT_NEAR(outcome.usd, 1100 * (4 * 0.0001 + 0.00005), 1e-9);
  EXPECT_NEAR(outcome.steps, 16'000, 1e-5);
}

TEST(TransientTraining, AJobOfMoreYearsThanAClockCountsEndsAtItsHorizon) {
  Job job;
  job.training.steps = 1e300;
  const TransientOutcome outcome = job.run();
  EXPECT_FALSE(outcome.finished);
  EXPECT_EQ(outcome.end, "horizon");
}

TEST(TransientTraining, GoesOnWithFewerWorkers) {
  Job job;
  // 400 s at 16 steps/s, then 12.
  const TransientOutcome outcome = job.run({{"job-worker-2", seconds(500)}});
  EXPECT_NEAR(outcome.train_s, 400 + (16'000 - 6400) / 12.0, 1e-6);
  EXPECT_EQ(outcome.losses, 1);
  EXPECT_EQ(outcome.replacements, 0);
  EXPECT_EQ(outcome.steps_lost, 0);
}

TEST(TransientTraining, ReplacesAWorkerFromItsNoticeOnUnderANewName) {
  Job job;
  job.training.replacement = ReplacementRule::Same;
  const TransientOutcome outcome = job.run({{"job-worker-2", seconds(500)}});
  // Notice at 470, the new one works at 570: 70 s at 12 steps/s.
  EXPECT_NEAR(outcome.train_s, 1000 + 70 * 4 / 16.0, 1e-6);
  EXPECT_EQ(outcome.replacements, 1);
  EXPECT_EQ(job.servers.back().spec.name, "job-worker-4");
  EXPECT_EQ(job.servers.back().requested, Time(seconds(470)));
}

TEST(TransientTraining, AnotherWorkerTakesOverAsChiefAndNothingIsLost) {
  Job job;
  job.training.checkpoints = {.save = seconds(4), .every = Duration(seconds(100))};
  const TransientOutcome outcome = job.run({{"job-worker-0", seconds(500)}});
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.steps_lost, 0);
  EXPECT_EQ(outcome.roll_backs, 0);
  EXPECT_GE(outcome.checkpoints, 9);
}

TEST(TransientTraining, APlainChiefGoesOnFromTheNewestCheckpoint) {
  Job job;
  job.training.chief_loss = ChiefLoss::Restart;
  job.training.checkpoints = {
      .save = seconds(4), .every = Duration(seconds(150)), .on_notice = false};
  const TransientOutcome outcome = job.run({{"job-worker-0", seconds(500)}});
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.roll_backs, 1);
  // Saves begin at 250 and at 404; the training since the second is lost.
  EXPECT_NEAR(outcome.steps_lost, 4 * 12 + 92 * 16, 1e-6);
  EXPECT_EQ(outcome.replacements, 1);
  EXPECT_EQ(job.servers.back().spec.role, "chief");
}

TEST(TransientTraining, ASaveOnNoticeKeepsTheTraining) {
  Job job;
  job.training.chief_loss = ChiefLoss::Restart;
  job.training.checkpoints = {.save = seconds(4), .every = Duration(hours(10))};
  const TransientOutcome outcome = job.run({{"job-worker-0", seconds(500)}});
  EXPECT_EQ(outcome.checkpoints, 1);
  EXPECT_NEAR(outcome.steps_lost, 4 * 12 + 26 * 16, 1e-6);
}

TEST(TransientTraining, TheClusterOf2019StopsWithItsChief) {
  Job job;
  job.training.chief_loss = ChiefLoss::Stop;
  const TransientOutcome outcome = job.run({{"job-worker-0", seconds(500)}});
  EXPECT_FALSE(outcome.finished);
  EXPECT_EQ(outcome.end, "chief-lost");
  EXPECT_NEAR(outcome.steps, 6400, 1e-6);
}

TEST(TransientTraining, ALostParameterServerIsReplacedAndRollsBack) {
  Job job;
  job.training.parameter_servers = {machine("east-a", "", OfferClass::Spot, 0.05)};
  job.world.offers.push_back(job.training.parameter_servers[0]);
  job.training.checkpoints = {
      .save = seconds(4), .every = Duration(seconds(150)), .on_notice = false};
  const TransientOutcome outcome = job.run({{"job-ps-0", seconds(500)}});
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.roll_backs, 1);
  EXPECT_NEAR(outcome.steps_lost, 4 * 12 + 92 * 16, 1e-6);
  EXPECT_EQ(job.servers.back().spec.name, "job-ps-1");
}

TEST(TransientTraining, CheckpointsFollowTheHazardOfTheState) {
  Job job;
  job.training.checkpoints = {.save = seconds(4)};
  EXPECT_EQ(job.run().checkpoints, 0);  // the parameter server is not revoked
  static const Lifetime risky = Lifetime::exponential(1);
  job.training.chief_loss = ChiefLoss::Restart;
  job.training.lifetime_of = [](const Offer& offer) -> const Lifetime& {
    return offer.offer_class == OfferClass::Spot ? risky : kForever;
  };
  EXPECT_EQ(job.run().checkpoints, 5);  // every 170 s or so
}

TEST(TransientTraining, WithoutCapacityTheNextBestOfferIsTaken) {
  Job job;
  job.training.replacement = ReplacementRule::CheapestSpot;
  job.training.steps = 160'000;
  job.world.traces["east-a"] = {.tick = hours(1), .available = {4}};
  const TransientOutcome outcome = job.run({{"job-worker-2", seconds(500)}});
  EXPECT_EQ(outcome.refused, 1);
  EXPECT_EQ(outcome.replacements, 1);
  EXPECT_EQ(job.servers.back().spec.offer.zone, "east-b");
}

TEST(TransientTraining, AReplacementThatWouldCostMoreThanItSavesIsNotMade) {
  Job job;
  job.training.replacement = ReplacementRule::CheapestSpot;
  EXPECT_EQ(job.run({{"job-worker-2", seconds(900)}}).replacements, 0);
  EXPECT_EQ(job.run({{"job-worker-2", seconds(500)}}).replacements, 0);
  job.training.usd_per_hour_of_time = 1;
  EXPECT_EQ(job.run({{"job-worker-2", seconds(500)}}).replacements, 1);
}

TEST(TransientTraining, AJobThatLosesAllWorkersEndsOrWaits) {
  Job job;
  const std::map<std::string, Duration> all = {{"job-worker-0", seconds(300)},
                                               {"job-worker-1", seconds(300)},
                                               {"job-worker-2", seconds(300)},
                                               {"job-worker-3", seconds(300)}};
  EXPECT_EQ(job.run(all).end, "no-workers");
  job.training.replacement = ReplacementRule::Cheapest;
  const TransientOutcome outcome = job.run(all);
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.steps_lost, 0);
  EXPECT_EQ(outcome.replacements, 4);
}

TEST(TransientTraining, WaitsForTheCapacityOfItsCluster) {
  Job job;
  job.world.traces["east-a"] = {.tick = seconds(1000), .available = {3, 4}};
  const TransientOutcome outcome = job.run();
  EXPECT_TRUE(outcome.finished);
  EXPECT_NEAR(outcome.wait_s, 1300, 1e-6);  // the fifth request, at 1200 s
  EXPECT_EQ(outcome.refused, 4);
}

TEST(TransientTraining, WorkersInAnotherRegionAreSlower) {
  Job job;
  job.training.speeds.remote_step_s = 0.25;
  job.training.workers[3].zone = "west-a";
  job.world.offers.push_back(job.training.workers[3]);
  EXPECT_NEAR(job.run().train_s, 16'000 / 14.0, 1e-6);
}

TEST(TransientTraining, ClustersThatCannotTrainAreRefused) {
  Job job;
  DiscreteEventProvider provider(job.world);
  job.training.workers.assign(2, machine("east-a", "T4", OfferClass::Spot, 1));
  EXPECT_EQ(run_training(job.training, provider).error().message,
            "no worker has a GPU whose speed is known");
  job.training.workers.assign(2, job.spot);
  job.training.parameter_servers.clear();
  EXPECT_EQ(run_training(job.training, provider).error().message,
            "several workers need a parameter server");
}

}  // namespace
}  // namespace orrery
