#include "cloud/transient_run/transient_run.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/test_folder.h"
#include "cloud/fleet/fake_provider.h"

namespace orrery {
namespace {

using Kind = ServerEvent::Kind;
using nlohmann::json;

// A run whose trainer is a script that does nothing, and whose folder the test writes.
class Harness {
 public:
  explicit Harness(const std::string& replacement = "same", const TransientPlan& plan = {})
      : plan_(plan) {
    const std::string trainer = folder_.file("trainer");
    EXPECT_TRUE(write_file_atomically(trainer, "#!/bin/sh\nmkdir -p \"$4\"\n").ok());
    EXPECT_EQ(chmod(trainer.c_str(), 0700), 0);
    const Offer gpu{.zone = "east",
                    .gpu = "K80",
                    .gpus = 1,
                    .offer_class = OfferClass::Spot,
                    .price_usd_per_hour = 0.36,
                    .notice = std::chrono::seconds(30)};
    Offer on_demand = gpu;
    on_demand.offer_class = OfferClass::OnDemand;
    on_demand.price_usd_per_hour = 1.08;
    const Offer plain{
        .zone = "east", .price_usd_per_hour = 0.1, .notice = std::chrono::seconds(30)};
    plan_.prices.offers = provider.offered = {gpu, on_demand, plain};
    plan_.spec.replacement = replacement;
    plan_.spec.training.steps = 1000;
    plan_.spec.workers.count = 2;
    plan_.places = {{.role = "chief", .index = 0, .offer = gpu},
                    {.role = "worker", .index = 1, .offer = gpu},
                    {.role = "worker", .index = 2, .offer = gpu},
                    {.role = "ps", .index = 0, .offer = plain},
                    {.role = "evaluator", .index = 0, .offer = plain}};
    plan_.folder = folder_.file("run");
    plan_.trainer = trainer;
    ledger_.emplace(CostLedger::open(folder_.file("ledger.db")).value());
    run_.emplace(plan_, provider, *ledger_);
    const Status begun = run_->begin();
    EXPECT_TRUE(begun.ok()) << begun.error().message;
    for (const Server& server : std::vector<Server>(provider.servers)) {
      provider.happen(Kind::Running, server.spec.name);
    }
    step();
  }

  bool step() {
    const auto over = run_->step();
    EXPECT_TRUE(over.ok()) << over.error().message;
    return over.ok() && over.value();
  }
  void stands(const json& more = json::object()) {
    json standing = {{"epoch", 1},   {"chief", "job-chief-0"}, {"training", true},
                     {"at_s", 10.0}, {"gradients", 500},       {"samples", 64000},
                     {"workers", 3}, {"rate_factor", 0.5},     {"accuracy", 0.8}};
    standing.update(more);
    write("progress.json", standing.dump());
  }
  void write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomically(plan_.folder + "/" + name, text).ok());
  }
  json orders() const {
    const auto text = read_file(plan_.folder + "/orders.json");
    return text.ok() ? json::parse(text.value()) : json();
  }
  const Server* server(const std::string& name) const {
    for (const Server& each : provider.servers) {
      if (each.spec.name == name) return &each;
    }
    return nullptr;
  }
  LeaseFile lease() const { return LeaseFile(plan_.folder); }
  CostLedger& ledger() { return *ledger_; }
  TransientRun& run() { return *run_; }

  FakeProvider provider{};

 private:
  TestFolder folder_;
  TransientPlan plan_{};
  std::optional<CostLedger> ledger_{};
  std::optional<TransientRun> run_{};
};

TEST(TransientRun, AsksForTheWholeClusterAtOnce) {
  Harness harness;
  ASSERT_EQ(harness.provider.servers.size(), 5U);
  const ServerSpec& chief = harness.server("job-chief-0")->spec;
  EXPECT_NE(chief.startup.find("--role chief --may-lead"), std::string::npos) << chief.startup;
  EXPECT_NE(harness.server("job-ps-0")->spec.startup.find("--role shard --index 0"),
            std::string::npos);
}

TEST(TransientRun, WorkersOfASlowGpuGetAQuota) {
  TransientPlan plan;
  plan.cores = {{"K80", 0.05}};
  Harness harness("same", plan);
  const std::string& startup = harness.server("job-worker-1")->spec.startup;
  EXPECT_NE(startup.find("--cores 0.05"), std::string::npos) << startup;
  EXPECT_EQ(harness.server("job-ps-0")->spec.startup.find("--cores"), std::string::npos);
}

TEST(TransientRun, ALostWorkerIsReplacedUnderANumberThatNoServerHasHad) {
  Harness harness;
  harness.stands();
  harness.provider.happen(Kind::Revoked, "job-worker-1");
  harness.step();
  ASSERT_NE(harness.server("job-worker-3"), nullptr);
  harness.provider.happen(Kind::Revoked, "job-worker-3");
  harness.step();
  EXPECT_NE(harness.server("job-worker-4"), nullptr);
  EXPECT_EQ(harness.run().revocations(), 2);
}

TEST(TransientRun, GoingOnWithFewerAsksForNone) {
  Harness harness("go-on");
  harness.stands();
  harness.provider.happen(Kind::Revoked, "job-worker-1");
  harness.step();
  EXPECT_EQ(harness.provider.servers.size(), 5U);
}

TEST(TransientRun, ALostParameterServerIsReplacedForTheSameShard) {
  Harness harness("go-on");
  harness.stands();
  harness.provider.happen(Kind::Revoked, "job-ps-0");
  harness.step();
  ASSERT_NE(harness.server("job-ps-1"), nullptr);
  EXPECT_NE(harness.server("job-ps-1")->spec.startup.find("--index 0"), std::string::npos);
}

TEST(TransientRun, TheLeaseOfALostChiefGoesToALiveMember) {
  Harness harness;
  harness.stands();
  ASSERT_TRUE(harness.lease().take(ChiefLease{}, "job-chief-0").value());
  harness.provider.happen(Kind::Revoked, "job-chief-0");
  harness.step();
  const ChiefLease lease = harness.lease().read().value();
  EXPECT_TRUE(lease.released);
  EXPECT_EQ(lease.next, "job-worker-1");
}

TEST(TransientRun, ALostMemberThatDoesNotLeadLeavesTheLeaseAlone) {
  Harness harness;
  harness.stands();
  ASSERT_TRUE(harness.lease().take(ChiefLease{}, "job-chief-0").value());
  harness.provider.happen(Kind::Revoked, "job-worker-1");
  harness.step();
  EXPECT_FALSE(harness.lease().read().value().released);
}

TEST(TransientRun, AFullZoneIsAskedAgainLaterUnderAnotherName) {
  Harness harness;
  harness.stands();
  harness.provider.happen(Kind::Revoked, "job-worker-1");
  harness.provider.capacity = 4;
  harness.step();
  harness.step();
  EXPECT_EQ(harness.provider.servers.size(), 5U);
  harness.provider.capacity = 10;
  harness.provider.time += std::chrono::minutes(2);
  harness.step();
  EXPECT_EQ(harness.server("job-worker-3"), nullptr);
  EXPECT_NE(harness.server("job-worker-4"), nullptr);
  const auto rows = harness.ledger().servers("job").value();
  const auto refused = std::ranges::find_if(
      rows, [](const LedgerServer& row) { return row.server.spec.name == "job-worker-3"; });
  ASSERT_NE(refused, rows.end());
  EXPECT_EQ(refused->server.end_reason, EndReason::StockOut);
  EXPECT_EQ(refused->usd, 0);
}

TEST(TransientRun, ANoticeForAParameterServerOrdersACheckpoint) {
  Harness harness;
  harness.stands();
  harness.write("checkpoints.csv", "time_s,version,gradients,bytes,save_s\n1.0,100,100,4000,0.5\n");
  harness.step();
  harness.provider.time += std::chrono::minutes(10);
  harness.step();
  EXPECT_TRUE(harness.orders().is_null());
  harness.provider.happen(Kind::Notice, "job-ps-0");
  harness.step();
  EXPECT_EQ(harness.orders().value("save", 0), 1);
  // A worker loses nothing.
  harness.provider.happen(Kind::Notice, "job-worker-1");
  harness.step();
  EXPECT_EQ(harness.orders().value("save", 0), 1);
}

TEST(TransientRun, MembershipEpochsAndCheckpointsGoIntoTheLedgerOnce) {
  Harness harness;
  harness.stands();
  harness.write("membership.csv",
                "time_s,epoch,workers,rate_factor,rate\n0.1,1,1,1,0.1\n0.2,1,2,0.707,0.07\n");
  harness.write("checkpoints.csv", "time_s,version,gradients,bytes,save_s\n1.0,7,70,400,0.25\n");
  harness.step();
  harness.step();
  const auto epochs = harness.ledger().memberships("job").value();
  ASSERT_EQ(epochs.size(), 2U);
  EXPECT_EQ(epochs[1].workers, 2);
  EXPECT_DOUBLE_EQ(epochs[1].rate_scale, 0.707);
  const auto saved = harness.ledger().checkpoints("job").value();
  ASSERT_EQ(saved.size(), 1U);
  EXPECT_EQ(saved[0].step, 70);
}

TEST(TransientRun, TheSummaryHasCostsAndWhatOnDemandWouldHaveCost) {
  Harness harness;
  harness.provider.time += std::chrono::hours(1);
  harness.stands({{"gradients", 1000}});
  harness.write("result.json", R"({"ended": "enough", "final_accuracy": 0.9, "failure": null})");
  EXPECT_TRUE(harness.step());
  const auto summary = harness.run().end();
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary.value().steps, 1000);
  EXPECT_EQ(summary.value().accuracy, 0.9);
  EXPECT_NEAR(summary.value().usd.value_or(0), 3 * 0.36 + 2 * 0.1, 1e-9);
  EXPECT_NEAR(summary.value().on_demand_usd.value_or(0), 3 * 1.08 + 2 * 0.1, 1e-9);
  EXPECT_EQ(harness.provider.stopped.size(), 5U);
  EXPECT_EQ(harness.provider.stopped[0].second, EndReason::Completed);
  EXPECT_EQ(harness.ledger().jobs().value()[0].outcome, "completed");
}

TEST(TransientRun, TheNaiveRateIsThatOfAllSlots) {
  TransientPlan plan;
  plan.spec.training.rate = 0.1;
  plan.spec.training.rate_rule = "naive";
  plan.spec.training.slots = 25;
  const auto words = prepare_arguments(plan);
  const auto rate = std::ranges::find(words, "--rate");
  EXPECT_DOUBLE_EQ(std::stod(*(rate + 1)), 0.02);
  EXPECT_EQ(*(rate + 3), "none");
}

}  // namespace
}  // namespace orrery
