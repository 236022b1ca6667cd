#include <gtest/gtest.h>

#include "cloud/gce/testing/gce_harness.h"

namespace orrery {
namespace {

using Kind = ServerEvent::Kind;
using std::chrono::seconds;

class GceEvents : public testing::Test {
 protected:
  std::vector<ServerSpec> make(int count, OfferClass offer_class = OfferClass::Spot) {
    std::vector<ServerSpec> asked;
    for (int i = 0; i < count; ++i) {
      asked.push_back(conformance_spec("alpha", i, fake_offer(offer_class)));
    }
    mirror.expect(asked);
    const auto made = harness.gce->create_all(asked, asked.size());
    EXPECT_TRUE(made.ok()) << made.error().message;
    return asked;
  }
  void pass(Duration time) {
    harness.advance(time);
    mirror.read(*harness.gce);
  }
  ServerState listed(const std::string& name) {
    for (const Server& server : harness.gce->list("").value()) {
      if (server.spec.name == name) return server.state;
    }
    return ServerState::Ended;
  }

  GceHarness harness;
  EventMirror mirror;
  const std::string first = "alpha-worker-0";
};

TEST_F(GceEvents, AServerGoesThroughTheStatesOfTheService) {
  make(1);
  harness.restart();  // so that it is seen as it is now
  harness.clock.advance(seconds(-2));
  EXPECT_EQ(listed(first), ServerState::Provisioning);
  harness.advance(seconds(5));
  EXPECT_EQ(listed(first), ServerState::Staging);
  harness.advance(seconds(60));
  EXPECT_EQ(listed(first), ServerState::Running);
  ASSERT_TRUE(harness.gce->stop(first, EndReason::UserStop).ok());
  EXPECT_EQ(listed(first), ServerState::Stopping);
  harness.advance(seconds(60));
  EXPECT_EQ(listed(first), ServerState::Ended);
}

TEST_F(GceEvents, ARunningServerRunsFromItsStartAndNotFromItsReading) {
  make(1);
  pass(seconds(600));
  EXPECT_LE(mirror.at(first).running - mirror.at(first).requested, seconds(45));
}

TEST_F(GceEvents, APreemptionIsNoticedBeforeTheEnd) {
  make(2);
  pass(seconds(60));
  ASSERT_TRUE(harness.service.preempt(kFakeZone, first));
  const Time at = harness.clock.now();
  pass(seconds(10));
  EXPECT_EQ(mirror.at(first).state, ServerState::Noticed);
  EXPECT_EQ(mirror.at(first).deadline, at + seconds(30));
  EXPECT_EQ(mirror.at("alpha-worker-1").state, ServerState::Running);
  pass(seconds(30));
  EXPECT_EQ(mirror.kinds(first),
            (std::vector{Kind::Requested, Kind::Running, Kind::Notice, Kind::Revoked}));
  EXPECT_EQ(mirror.at(first).end_reason, EndReason::Revoked);
}

TEST_F(GceEvents, APreemptionBeforeItRunsIsARevocationWithoutNotice) {
  for (const int after_s : {0, 20}) {
    GceHarness other;
    EventMirror seen;
    const auto spec = conformance_spec("alpha", 0, fake_offer(OfferClass::Spot));
    seen.expect({spec});
    ASSERT_TRUE(other.gce->create_all({spec}, 1).ok());
    other.advance(seconds(after_s));
    ASSERT_TRUE(other.service.preempt(kFakeZone, spec.name));
    seen.read(*other.gce);
    other.advance(seconds(60));
    seen.read(*other.gce);
    EXPECT_EQ(seen.kinds(spec.name), (std::vector{Kind::Requested, Kind::Revoked}));
    EXPECT_EQ(cost_usd(seen.at(spec.name), other.clock.now()), 0);
  }
}

TEST_F(GceEvents, TwoPreemptionsAreOneRevocation) {
  make(1);
  pass(seconds(60));
  ASSERT_TRUE(harness.service.preempt(kFakeZone, first));
  EXPECT_FALSE(harness.service.preempt(kFakeZone, first));
  harness.service.in(kFakeZone, [&](FakeZone& zone) {
    zone.end_by("compute.instances.preempted", first, harness.clock.true_time(), true);
  });
  pass(seconds(5));
  pass(seconds(5));
  pass(seconds(60));
  pass(seconds(60));
  EXPECT_EQ(mirror.kinds(first).size(), 4U);
}

TEST_F(GceEvents, AStopDuringAPreemptionIsARevocation) {
  make(1);
  pass(seconds(60));
  ASSERT_TRUE(harness.service.preempt(kFakeZone, first));
  harness.advance(seconds(5));
  ASSERT_TRUE(harness.gce->stop(first, EndReason::Completed).ok());
  pass(seconds(5));
  pass(seconds(60));
  EXPECT_EQ(mirror.at(first).end_reason, EndReason::Revoked);
}

TEST_F(GceEvents, APreemptionAfterAStopIsAStop) {
  make(1);
  pass(seconds(60));
  ASSERT_TRUE(harness.gce->stop(first, EndReason::Completed).ok());
  harness.advance(seconds(5));
  harness.service.in(kFakeZone, [&](FakeZone& zone) {
    zone.end_by("compute.instances.preempted", first, harness.clock.true_time(), true);
  });
  pass(seconds(60));
  EXPECT_EQ(mirror.at(first).end_reason, EndReason::Completed);
}

TEST_F(GceEvents, WhatEndsAServerIsItsReason) {
  const struct {
    const char* type;
    bool deletes;
    Kind kind;
    EndReason reason;
  } cases[] = {
      {"compute.instances.preempted", false, Kind::Revoked, EndReason::Revoked},
      {"compute.instances.hostError", false, Kind::Failed, EndReason::HostError},
      {"compute.instances.guestTerminate", false, Kind::Stopped, EndReason::Completed},
      {"compute.instances.deferredDelete", true, Kind::Stopped, EndReason::LifeEnded},
      {"stop", false, Kind::Stopped, EndReason::UserStop},
      {"delete", true, Kind::Stopped, EndReason::UserStop},
  };
  for (const auto& each : cases) {
    GceHarness other;
    EventMirror seen;
    const auto spec = conformance_spec("alpha", 0, fake_offer(OfferClass::Spot));
    seen.expect({spec});
    ASSERT_TRUE(other.gce->create_all({spec}, 1).ok());
    other.advance(seconds(60));
    other.service.in(kFakeZone, [&](FakeZone& zone) {
      zone.end_by(each.type, spec.name, other.clock.true_time(), each.deletes);
    });
    other.advance(seconds(60));
    seen.read(*other.gce);
    ASSERT_FALSE(seen.kinds(spec.name).empty());
    EXPECT_EQ(seen.kinds(spec.name).back(), each.kind) << each.type;
    EXPECT_EQ(seen.at(spec.name).end_reason, each.reason) << each.type;
    // Nothing that has stopped is left, where its disk would be billed.
    other.service.in(kFakeZone,
                     [&](FakeZone& zone) { EXPECT_TRUE(zone.instances().empty()) << each.type; });
  }
}

TEST_F(GceEvents, AFlexServerWaitsRunsAndEndsWithItsLife) {
  make(1, OfferClass::Flex);
  pass(seconds(30));
  EXPECT_EQ(listed(first), ServerState::Requested);
  pass(seconds(100));
  EXPECT_EQ(mirror.at(first).state, ServerState::Running);
  pass(seconds(3700));
  EXPECT_EQ(mirror.at(first).end_reason, EndReason::LifeEnded);
}

TEST_F(GceEvents, AListThatLacksAServerDoesNotEndIt) {
  make(2);
  pass(seconds(60));
  harness.service.inject({.on = "zones/us-east1-c/instances",
                          .status = 200,
                          .body = R"({"kind":"compute#instanceList","items":[]})"});
  pass(seconds(5));
  EXPECT_EQ(harness.service.faults_left(), 0U);
  EXPECT_EQ(mirror.at(first).state, ServerState::Running);
}

TEST_F(GceEvents, AServiceThatFailsEndsNoServer) {
  make(2);
  pass(seconds(60));
  harness.service.inject({.on = "zones/us-east1-c", .times = 99});
  const std::int64_t sequence = mirror.sequence();
  const auto events = harness.gce->events_after(sequence);
  ASSERT_FALSE(events.ok());
  EXPECT_EQ(events.error().code, Code::Unavailable) << events.error().message;
  harness.service.clear_faults();
  pass(seconds(5));
  EXPECT_EQ(mirror.sequence(), sequence);
}

TEST_F(GceEvents, AStopThatIsLostIsSentAgain) {
  make(1);
  pass(seconds(60));
  harness.service.inject({.on = "DELETE", .kind = FakeFault::Kind::Unheard, .times = 6});
  EXPECT_FALSE(harness.gce->stop(first, EndReason::ClusterStop).ok());
  pass(seconds(5));
  pass(seconds(60));
  EXPECT_EQ(mirror.at(first).end_reason, EndReason::ClusterStop);
  EXPECT_EQ(harness.service.live_instances(), 0U);
}

TEST_F(GceEvents, ManyServersComeInPages) {
  make(23);
  harness.service.set_page_items(5);
  pass(seconds(60));
  EXPECT_EQ(live_servers(*harness.gce, "alpha"), 23U);
  for (int i = 0; i < 23; ++i) {
    EXPECT_EQ(mirror.at("alpha-worker-" + std::to_string(i)).state, ServerState::Running);
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(harness.service.preempt(kFakeZone, "alpha-worker-" + std::to_string(i)));
  }
  pass(seconds(5));
  pass(seconds(60));
  EXPECT_EQ(live_servers(*harness.gce, "alpha"), 3U);
  EXPECT_EQ(mirror.at("alpha-worker-19").end_reason, EndReason::Revoked);
}

TEST_F(GceEvents, PagesInACircleAreAnError) {
  make(1);
  harness.service.inject(
      {.on = "zones/us-east1-c/instances",
       .times = 9,
       .status = 200,
       .body = R"({"kind":"compute#instanceList","nextPageToken":"a","items":[]})"});
  const auto listed = harness.gce->list("");
  ASSERT_FALSE(listed.ok());
  EXPECT_NE(listed.error().message.find("circle"), std::string::npos);
}

TEST_F(GceEvents, AnAnswerOfFiveMegabytesIsRead) {
  make(2);
  harness.service.set_padding(5'000'000);
  pass(seconds(60));
  EXPECT_EQ(mirror.at(first).state, ServerState::Running);
}

TEST_F(GceEvents, AnAnswerBeyondTheLimitIsRefused) {
  GceOptions options = harness.options();
  options.api.answer_bytes_max = 1'000'000;
  harness.restart(options);
  harness.service.set_padding(5'000'000);
  const auto listed = harness.gce->list("");
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code, Code::DataLoss);
  EXPECT_EQ(listed.error().message, "gce: the answer has more than 1000000 bytes");
}

TEST_F(GceEvents, ForeignAnswersAreNamedAsSuch) {
  const struct {
    const char* body;
    const char* type;
    const char* part;
  } cases[] = {
      {"<html><body>Log in to the network</body></html>", "text/html", "is not JSON"},
      {R"({"hello":"world"})", "application/json", "is not a compute#instanceList"},
      {R"([1,2,3])", "application/json", "is not JSON"},
      {R"({"kind":"compute#operation","name":"x"})", "application/json",
       "is not a compute#instanceList"},
      {R"({"kind":"compute#instanceList","items":7})", "application/json",
       "is not a compute#instanceList"},
      {"", "text/plain", "is not JSON"},
  };
  for (const auto& each : cases) {
    GceHarness other;
    other.service.inject({.on = "/instances",
                          .times = 99,
                          .status = 200,
                          .body = each.body,
                          .content_type = each.type});
    const auto listed = other.gce->list("");
    ASSERT_FALSE(listed.ok()) << each.body;
    EXPECT_EQ(listed.error().code, Code::Unavailable) << each.body;
    EXPECT_NE(listed.error().message.find(each.part), std::string::npos) << listed.error().message;
    EXPECT_NE(listed.error().message.find("proxy"), std::string::npos) << listed.error().message;
  }
}

}  // namespace
}  // namespace orrery
