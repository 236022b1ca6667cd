#include "cloud/fleet/fleet.h"

#include <gtest/gtest.h>

#include "cloud/fleet/fake_provider.h"
#include "live/api/fake_api.h"

namespace orrery {
namespace {

using Kind = ServerEvent::Kind;
using std::chrono::minutes;
using std::chrono::seconds;

class FleetTest : public ::testing::Test {
 protected:
  FleetTest() {
    provider_.offered = {{.zone = "a",
                          .machine_type = "big",
                          .gpu = "V100",
                          .gpus = 4,
                          .offer_class = OfferClass::Spot,
                          .price_usd_per_hour = 6}};
    api_.answers["drain"] = Nothing{};
    api_.answers["remove_node"] = Nothing{};
    set_nodes({});
    set_waiting(0);
  }

  Fleet open(AutoscalingOptions rules = {}) {
    auto fleet =
        Fleet::open(api_, provider_,
                    {.rules = rules,
                     .cluster = "c",
                     .startup = [](const std::string& node,
                                   const Offer&) { return Result<std::string>("join " + node); },
                     .request_id = [this] { return std::to_string(++requests_); },
                     .say = [this](const std::string& line) { said_.push_back(line); }});
    EXPECT_TRUE(fleet.ok());
    return std::move(fleet).value();
  }

  void set_waiting(int jobs, int gpus = 4) {
    StatusAnswer status;
    for (int i = 0; i < jobs; ++i) {
      JobStatus job;
      job.gpus = gpus;
      job.waits_for_devices = true;
      status.jobs.push_back(job);
    }
    api_.answers["status"] = status;
  }
  void set_nodes(std::vector<NodeStatus> nodes) { api_.answers["nodes"] = NodesAnswer{nodes}; }
  static NodeStatus node(const std::string& name, std::vector<JobNumber> jobs = {}) {
    NodeStatus status;
    status.name = name;
    status.state = "up";
    status.gpus = 4;
    status.gpus_free = jobs.empty() ? 4 : 0;
    status.jobs = std::move(jobs);
    return status;
  }

  std::vector<DrainRequest> drains() {
    std::vector<DrainRequest> requests;
    for (const auto& asked : api_.asked()) {
      if (asked.call == "drain") requests.push_back(std::any_cast<DrainRequest>(asked.request));
    }
    return requests;
  }
  std::int64_t calls(const std::string& name) {
    const auto asked = api_.asked();
    return std::ranges::count(asked, name, &FakeApi::Asked::call);
  }

  FakeProvider provider_;
  FakeApi api_;
  std::vector<std::string> said_;
  int requests_ = 0;
};

TEST_F(FleetTest, AsksForAServerForAWaitingJobAndNoSecondWhileItStarts) {
  Fleet fleet = open();
  set_waiting(1);
  ASSERT_TRUE(fleet.pass().ok());
  ASSERT_EQ(provider_.servers.size(), 1U);
  EXPECT_EQ(provider_.servers[0].spec.name, "c-1");
  EXPECT_EQ(provider_.servers[0].spec.startup, "join c-1");
  ASSERT_TRUE(fleet.pass().ok());
  provider_.happen(Kind::Running, "c-1");
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(provider_.servers.size(), 1U);
}

TEST_F(FleetTest, DrainsANodeWhoseServerWillBeRevoked) {
  Fleet fleet = open();
  set_waiting(1);
  ASSERT_TRUE(fleet.pass().ok());
  provider_.happen(Kind::Running, "c-1");
  set_waiting(0);
  set_nodes({node("c-1", {7})});
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_TRUE(drains().empty());
  provider_.happen(Kind::Notice, "c-1");
  ASSERT_TRUE(fleet.pass().ok());
  ASSERT_EQ(drains().size(), 1U);
  EXPECT_EQ(drains()[0], (DrainRequest{.node = "c-1", .now = true}));
  EXPECT_TRUE(provider_.stopped.empty());
}

TEST_F(FleetTest, DrainsANodeThatJoinsAfterTheNotice) {
  Fleet fleet = open();
  set_waiting(1);
  ASSERT_TRUE(fleet.pass().ok());
  set_waiting(0);
  provider_.happen(Kind::Running, "c-1");
  provider_.happen(Kind::Notice, "c-1");
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_TRUE(drains().empty());
  set_nodes({node("c-1", {7})});
  ASSERT_TRUE(fleet.pass().ok());
  ASSERT_EQ(drains().size(), 1U);
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(drains().size(), 1U) << "once is enough";
}

TEST_F(FleetTest, ADrainThatFailsIsTriedAgain) {
  Fleet fleet = open();
  set_waiting(1);
  ASSERT_TRUE(fleet.pass().ok());
  set_waiting(0);
  provider_.happen(Kind::Running, "c-1");
  set_nodes({node("c-1", {7})});
  ASSERT_TRUE(fleet.pass().ok());
  provider_.happen(Kind::Notice, "c-1");
  api_.answers["drain"] = Error{Code::Unavailable, "the scheduler is busy"};
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(drains().size(), 1U);
  api_.answers["drain"] = Nothing{};
  ASSERT_TRUE(fleet.pass().ok());
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(drains().size(), 2U);
}

TEST_F(FleetTest, ReportsARevokedServerAsLostUntilTheSchedulerTakesIt) {
  Fleet fleet = open();
  set_waiting(1);
  ASSERT_TRUE(fleet.pass().ok());
  provider_.happen(Kind::Running, "c-1");
  set_nodes({node("c-1", {7})});
  set_waiting(0);
  ASSERT_TRUE(fleet.pass().ok());
  provider_.happen(Kind::Revoked, "c-1");
  api_.answers["drain"] = Error{Code::FailedPrecondition, "c-1 answers, so it is not off"};
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(calls("remove_node"), 0);
  api_.answers["drain"] = Nothing{};
  ASSERT_TRUE(fleet.pass().ok());
  ASSERT_EQ(drains().size(), 2U);
  EXPECT_TRUE(drains()[1].lost);
  EXPECT_EQ(calls("remove_node"), 1);
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(drains().size(), 2U) << "once is enough";
}

TEST_F(FleetTest, StopsAnIdleServerAfterItsJobsHaveLeft) {
  Fleet fleet = open({.idle_max = minutes(5), .stop_time = minutes(2)});
  set_waiting(1);
  ASSERT_TRUE(fleet.pass().ok());
  provider_.happen(Kind::Running, "c-1");
  set_waiting(0);
  set_nodes({node("c-1")});
  ASSERT_TRUE(fleet.pass().ok());
  provider_.time += minutes(4);
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_TRUE(drains().empty());
  provider_.time += minutes(1);
  ASSERT_TRUE(fleet.pass().ok());
  ASSERT_EQ(drains().size(), 1U) << "it takes no job from now on";
  EXPECT_TRUE(provider_.stopped.empty());
  // A job had started there meanwhile.
  set_nodes({node("c-1", {9})});
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_TRUE(provider_.stopped.empty());
  set_nodes({node("c-1")});
  ASSERT_TRUE(fleet.pass().ok());
  ASSERT_EQ(provider_.stopped.size(), 1U);
  EXPECT_EQ(provider_.stopped[0].second, EndReason::ClusterStop);
}

TEST_F(FleetTest, StopsABusyServerWhenItsTimeIsOver) {
  Fleet fleet = open({.budget_usd = 3, .stop_time = minutes(2), .life_min = minutes(1)});
  set_waiting(1);
  ASSERT_TRUE(fleet.pass().ok());
  provider_.happen(Kind::Running, "c-1");
  set_waiting(0);
  set_nodes({node("c-1", {9})});
  ASSERT_TRUE(fleet.pass().ok());
  provider_.time += minutes(28);  // 2.80 USD, and 0.20 more until it has stopped
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(drains().size(), 1U);
  provider_.time += minutes(2);
  ASSERT_TRUE(fleet.pass().ok());
  ASSERT_EQ(provider_.stopped.size(), 1U);
  EXPECT_LE(fleet.cost_usd(), 3);
  set_waiting(3);
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(provider_.servers.size(), 1U) << "the budget is spent";
}

TEST_F(FleetTest, TakesOverServersWhoseAnswerWasLost) {
  Fleet fleet = open();
  set_waiting(1);
  provider_.reply_is_lost = true;
  EXPECT_FALSE(fleet.pass().ok());
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(fleet.members().size(), 1U);
  EXPECT_EQ(provider_.servers.size(), 1U);
}

TEST_F(FleetTest, WaitsAfterAStockOut) {
  Fleet fleet = open({.stock_out_pause = minutes(5)});
  set_waiting(1);
  provider_.capacity = 0;
  ASSERT_TRUE(fleet.pass().ok());
  provider_.capacity = 10;
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_TRUE(provider_.servers.empty());
  EXPECT_EQ(fleet.shortage(), "no offer with GPUs has capacity now");
  provider_.time += minutes(5);
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(provider_.servers.size(), 1U);
  EXPECT_EQ(fleet.shortage(), "");
}

TEST_F(FleetTest, StopsAServerThatNeverJoins) {
  Fleet fleet = open();
  set_waiting(1);
  ASSERT_TRUE(fleet.pass().ok());
  provider_.happen(Kind::Running, "c-1");
  ASSERT_TRUE(fleet.pass().ok());
  provider_.time += minutes(10);
  ASSERT_TRUE(fleet.pass().ok());
  ASSERT_EQ(provider_.stopped.size(), 1U);
  EXPECT_EQ(provider_.stopped[0].second, EndReason::LaunchError);
}

TEST_F(FleetTest, AJobThatHasWaitedForHalfOfItsSpareTimeGetsAServerOnDemand) {
  provider_.offered.push_back(provider_.offered[0]);
  provider_.offered[1].offer_class = OfferClass::OnDemand;
  provider_.offered[1].price_usd_per_hour = 18;
  Fleet fleet = open();
  JobStatus job;
  job.gpus = 4;
  job.waits_for_devices = true;
  job.submitted_s = 1000;
  job.time_limit_s = 600;
  job.deadline_s = 2000;  // 400 s to spare
  provider_.capacity = 1;
  api_.answers["status"] = StatusAnswer{.now_s = 1199, .jobs = {job}};
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(provider_.servers.at(0).spec.offer.offer_class, OfferClass::Spot);
  provider_.happen(Kind::Revoked, "c-1");
  api_.answers["status"] = StatusAnswer{.now_s = 1200, .jobs = {job}};
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(provider_.servers.at(1).spec.offer.offer_class, OfferClass::OnDemand);
}

TEST_F(FleetTest, NeverUsesANameTwice) {
  provider_.servers.push_back({.spec = {.name = "c-4", .job = "c"}});
  set_nodes({node("c-9"), node("other-20")});
  Fleet fleet = open();
  set_waiting(1);
  ASSERT_TRUE(fleet.pass().ok());
  EXPECT_EQ(provider_.servers.back().spec.name, "c-10");
}

}  // namespace
}  // namespace orrery
