#include <gtest/gtest.h>

#include <algorithm>

#include "cloud/gce/testing/fake_schema.h"
#include "cloud/gce/testing/gce_harness.h"

namespace orrery {
namespace {

using Kind = FakeFault::Kind;

std::vector<ServerSpec> specs(int count, OfferClass offer_class = OfferClass::Spot,
                              const std::string& zone = kFakeZone) {
  std::vector<ServerSpec> made;
  for (int i = 0; i < count; ++i) {
    made.push_back(conformance_spec("alpha", i, fake_offer(offer_class, zone)));
  }
  return made;
}

std::size_t bulk_calls(FakeCompute& service) {
  const auto requests = service.requests();
  return static_cast<std::size_t>(
      std::count_if(requests.begin(), requests.end(),
                    [](const std::string& request) { return request.ends_with("bulkInsert"); }));
}

nlohmann::json properties_of(FakeCompute& service, const std::string& name) {
  return service.in(kFakeZone,
                    [&](FakeZone& zone) { return zone.instances().at(name).properties; });
}

// The call failed with `code`, says `part`, and nothing is left now or later.
void expect_nothing(GceHarness& harness, const Result<std::vector<Server>>& made, Code code,
                    const std::string& part) {
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, code) << made.error().message;
  EXPECT_NE(made.error().message.find(part), std::string::npos) << made.error().message;
  harness.service.clear_faults();
  harness.advance(std::chrono::minutes(5));
  EXPECT_TRUE(harness.gce->events_after(0).ok());
  harness.advance(std::chrono::minutes(5));
  EXPECT_EQ(harness.service.live_instances(), 0U);
  const auto listed = harness.gce->list("");
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_TRUE(listed.value().empty());
  EXPECT_TRUE(harness.gce->events_after(0).value().empty());
}

TEST(GceCreate, OneCallMakesManyServersWithNamesOfTheirOwn) {
  GceHarness harness;
  ASSERT_TRUE(harness.gce->create_all(specs(8), 8).ok());
  EXPECT_EQ(bulk_calls(harness.service), 1U);
  EXPECT_EQ(harness.service.live_instances(), 8U);
}

TEST(GceCreate, EachClassHasItsScheduling) {
  GceHarness harness;
  std::vector<ServerSpec> asked;
  int index = 0;
  for (const OfferClass each : {OfferClass::Spot, OfferClass::OnDemand, OfferClass::Flex}) {
    asked.push_back(conformance_spec("alpha", index++, fake_offer(each)));
  }
  asked[0].startup = "#!/bin/sh\necho begin\n";
  asked[0].shutdown = "#!/bin/sh\necho end\n";
  asked[0].labels = {{"team", "vision"}};
  ASSERT_TRUE(harness.gce->create_all(asked, 3).ok());
  EXPECT_EQ(bulk_calls(harness.service), 3U);
  const auto spot = properties_of(harness.service, "alpha-worker-0");
  EXPECT_EQ(spot["scheduling"].dump(),
            R"({"automaticRestart":false,"instanceTerminationAction":"DELETE",)"
            R"("onHostMaintenance":"TERMINATE","provisioningModel":"SPOT"})");
  EXPECT_EQ(spot["labels"]["team"], "vision");
  EXPECT_EQ(spot["labels"]["orrery-job"], "alpha");
  EXPECT_EQ(spot["metadata"]["items"][1]["key"], "startup-script");
  EXPECT_EQ(spot["metadata"]["items"][2]["value"], "#!/bin/sh\necho end\n");
  EXPECT_EQ(spot["guestAccelerators"].dump(),
            R"([{"acceleratorCount":1,"acceleratorType":"nvidia-tesla-k80"}])");
  EXPECT_TRUE(spot["disks"][0]["initializeParams"]["sourceImage"].get<std::string>().ends_with(
      "debian-12-v20261110"));
  EXPECT_EQ(properties_of(harness.service, "alpha-worker-1")["scheduling"]["provisioningModel"],
            "STANDARD");
  const auto flex = properties_of(harness.service, "alpha-worker-2");
  EXPECT_EQ(flex["scheduling"]["provisioningModel"], "FLEX_START");
  EXPECT_EQ(flex["scheduling"]["maxRunDuration"]["seconds"], "3600");
  EXPECT_EQ(flex["scheduling"]["instanceTerminationAction"], "DELETE");
  EXPECT_EQ(flex["reservationAffinity"]["consumeReservationType"], "NO_RESERVATION");
}

TEST(GceCreate, AnUnavailableServiceIsTriedAgain) {
  for (const int status : {429, 500, 502, 503}) {
    GceHarness harness;
    harness.service.inject({.on = "bulkInsert", .times = 3, .status = status});
    const auto made = harness.gce->create_all(specs(2), 2);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(bulk_calls(harness.service), 4U);
    EXPECT_EQ(harness.service.live_instances(), 2U);
    EXPECT_GE(seconds(harness.clock.waited()), 0.5 + 1 + 2);
  }
}

TEST(GceCreate, ARateLimitIsTriedAgainWhenTheServiceSays) {
  GceHarness harness;
  harness.service.inject(
      {.on = "bulkInsert",
       .status = 403,
       .body = R"({"error":{"code":403,"message":"m","errors":[{"reason":"rateLimitExceeded"}]}})",
       .retry_after = "40"});
  ASSERT_TRUE(harness.gce->create_all(specs(2), 2).ok());
  EXPECT_GE(seconds(harness.clock.waited()), 40);
}

TEST(GceCreate, AnErrorOfTheCallerIsNotTriedAgain) {
  const struct {
    int status;
    Code code;
  } cases[] = {{400, Code::InvalidArgument},    {403, Code::PermissionDenied},
               {404, Code::NotFound},           {409, Code::AlreadyExists},
               {412, Code::FailedPrecondition}, {301, Code::Unavailable}};
  for (const auto& [status, code] : cases) {
    GceHarness harness;
    harness.service.inject({.on = "bulkInsert",
                            .times = 9,
                            .status = status,
                            .body = R"({"error":{"message":"the reason of it"}})"});
    const auto made = harness.gce->create_all(specs(2), 2);
    EXPECT_EQ(bulk_calls(harness.service), 1U) << status;
    expect_nothing(harness, made, code, "the reason of it");
  }
}

TEST(GceCreate, ALostReplyMakesNoSecondServer) {
  for (const int lost : {1, 2, 5}) {
    GceHarness harness;
    harness.service.inject({.on = "bulkInsert", .kind = Kind::LoseReply, .times = lost});
    const auto made = harness.gce->create_all(specs(4), 4);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(harness.service.live_instances(), 4U);
    harness.service.in(kFakeZone, [](FakeZone& zone) {
      EXPECT_EQ(zone.most_of_one_name(), 1);
      EXPECT_EQ(zone.operations().size(), 1U);
    });
  }
}

TEST(GceCreate, AReplyThatIsLostEveryTimeLeavesNothing) {
  for (const Kind kind : {Kind::LoseReply, Kind::CutReply, Kind::Unheard}) {
    GceHarness harness;
    harness.service.inject({.on = "bulkInsert", .kind = kind, .times = 99});
    expect_nothing(harness, harness.gce->create_all(specs(4), 4), Code::Unavailable, "us-east1-c");
  }
}

TEST(GceCreate, AReplyThatIsCutOffIsAskedForAgain) {
  GceHarness harness;
  harness.service.inject({.on = "bulkInsert", .kind = Kind::CutReply, .times = 2});
  harness.service.inject({.on = "/instances", .kind = Kind::CutReply});
  ASSERT_TRUE(harness.gce->create_all(specs(4), 4).ok());
  EXPECT_EQ(harness.service.live_instances(), 4U);
}

TEST(GceCreate, AStockOutNamesTheZoneAndTheRemedy) {
  GceHarness harness;
  harness.limit(0);
  const auto made = harness.gce->create_all(specs(4), 4);
  expect_nothing(harness, made, Code::ResourceExhausted,
                 "gce: us-east1-c: no capacity (ZONE_RESOURCE_POOL_EXHAUSTED");
  EXPECT_NE(made.error().message.find("try another zone"), std::string::npos);
}

TEST(GceCreate, AStockOutByStatusIsNotTriedAgain) {
  GceHarness harness;
  harness.service.inject(
      {.on = "bulkInsert",
       .status = 503,
       .body = R"({"error":{"errors":[{"reason":"insufficientCapacity","message":"none"}]}})"});
  const auto made = harness.gce->create_all(specs(4), 4);
  EXPECT_EQ(bulk_calls(harness.service), 1U);
  expect_nothing(harness, made, Code::ResourceExhausted, "no capacity (insufficientCapacity)");
}

TEST(GceCreate, AQuotaIsNamedHoweverItIsRefused) {
  for (const bool by_status : {false, true}) {
    GceHarness harness;
    harness.service.in(kFakeZone, [&](FakeZone& zone) {
      zone.gpus_quota = 3;
      zone.quota_by_status = by_status;
    });
    expect_nothing(harness, harness.gce->create_all(specs(4), 4), Code::ResourceExhausted,
                   "quota (");
  }
}

TEST(GceCreate, CapacityBelowTheMinimumLeavesNoneOfSeveralZones) {
  GceHarness harness;
  auto asked = specs(3, OfferClass::Spot, kFarZone);
  for (int i = 3; i < 6; ++i) {
    asked.push_back(conformance_spec("alpha", i, fake_offer(OfferClass::Spot)));
  }
  harness.limit(1);
  expect_nothing(harness, harness.gce->create_all(asked, 5), Code::ResourceExhausted,
                 "no capacity");
}

TEST(GceCreate, CapacityAboveTheMinimumIsKeptInTheOrderOfTheSpecs) {
  GceHarness harness;
  auto asked = specs(3);
  for (int i = 3; i < 6; ++i) {
    asked.push_back(conformance_spec("alpha", i, fake_offer(OfferClass::Spot, kFarZone)));
  }
  harness.limit(1);
  const auto made = harness.gce->create_all(asked, 4);
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_EQ(made.value().size(), 4U);
  EXPECT_EQ(made.value()[0].spec.name, "alpha-worker-0");
  EXPECT_EQ(made.value()[1].spec.name, "alpha-worker-3");
  // The same call again gives the same answer, though there is capacity now.
  harness.limit(9);
  const auto again = harness.gce->create_all(asked, 4);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again.value().size(), 4U);
  EXPECT_EQ(harness.service.live_instances(), 4U);
}

TEST(GceCreate, AFailureIsTheAnswerToTheSameCallForEver) {
  GceHarness harness;
  harness.limit(0);
  const auto first = harness.gce->create_all(specs(2), 2);
  harness.limit(9);
  const auto again = harness.gce->create_all(specs(2), 2);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message, first.error().message);
  EXPECT_EQ(harness.service.live_instances(), 0U);
}

TEST(GceCreate, ACallWithoutEffectCanBeMadeAgain) {
  GceHarness harness;
  harness.service.inject({.on = "bulkInsert", .status = 403, .body = "{}"});
  ASSERT_FALSE(harness.gce->create_all(specs(2), 2).ok());
  EXPECT_TRUE(harness.gce->create_all(specs(2), 2).ok());
  EXPECT_EQ(harness.service.live_instances(), 2U);
}

TEST(GceCreate, AnOperationThatNeverEndsIsGivenUpAndCleanedUp) {
  GceHarness harness;
  harness.service.in(kFakeZone, [](FakeZone& zone) { zone.operations_end = false; });
  const auto made = harness.gce->create_all(specs(3), 3);
  EXPECT_GE(seconds(harness.clock.waited()), 500);
  expect_nothing(harness, made, Code::DeadlineExceeded, "operation operation-1 has not ended");
}

TEST(GceCreate, ServersThatCannotBeListedAreRemovedThoughNoneIsNeeded) {
  GceHarness harness;
  ASSERT_TRUE(harness.gce->list("").ok());
  harness.service.inject({.on = "GET /compute/v1/projects/fake-project/zones/us-east1-c/instances",
                          .times = 6});
  const auto made = harness.gce->create_all(specs(3), 0);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(made.value().empty());
  EXPECT_TRUE(harness.gce->events_after(0).value().empty());
  EXPECT_EQ(harness.service.live_instances(), 0U);
}

TEST(GceCreate, TheCleanUpContinuesWhenTheServiceIsBack) {
  GceHarness harness;
  harness.service.inject({.on = "bulkInsert", .kind = Kind::LoseReply, .times = 99});
  ASSERT_TRUE(harness.gce->list("").ok());
  harness.service.inject({.on = "GET /compute/v1/projects/fake-project/zones", .times = 9999});
  const auto made = harness.gce->create_all(specs(3), 3);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("is not confirmed"), std::string::npos)
      << made.error().message;
  EXPECT_EQ(harness.service.live_instances(), 3U);
  expect_nothing(harness, made, Code::Unavailable, "");
}

TEST(GceCreate, AnotherProgramsServerOfThatNameStays) {
  GceHarness harness;
  GceOptions other = harness.options();
  other.machines.fleet = "another";
  auto theirs = GceProvider::make(other, {}, harness.clock).value();
  ASSERT_TRUE(theirs->create_all(specs(1), 1).ok());
  auto asked = specs(3);
  for (ServerSpec& spec : asked) spec.request_id[0] = 'd';
  const auto made = harness.gce->create_all(asked, 3);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Code::AlreadyExists) << made.error().message;
  harness.advance(std::chrono::minutes(5));
  EXPECT_EQ(harness.service.live_instances(), 1U);
  EXPECT_TRUE(harness.gce->list("").value().empty());
}

TEST(GceCreate, ANewProcessTakesOverWhatAnEarlierOneMade) {
  GceHarness harness;
  ASSERT_TRUE(harness.gce->create_all(specs(3), 3).ok());
  harness.advance(std::chrono::minutes(2));
  harness.restart();
  const auto listed = harness.gce->list("alpha");
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed.value().size(), 3U);
  EXPECT_EQ(listed.value()[2].spec.role, "worker");
  EXPECT_EQ(listed.value()[2].spec.index, 2);
  EXPECT_EQ(listed.value()[2].spec.offer.price_usd_per_hour, 0.2556);
  EXPECT_EQ(listed.value()[2].state, ServerState::Running);
  // A call that the earlier process may have made makes nothing twice.
  const auto again = harness.gce->create_all(specs(3), 3);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again.value().size(), 3U);
  EXPECT_EQ(harness.service.live_instances(), 3U);
}

TEST(GceCreate, WhatCannotBeAskedForIsRefusedHere) {
  GceHarness harness;
  const auto refused = [&](auto change, const std::string& part) {
    auto asked = specs(2);
    change(asked[1]);
    const auto made = harness.gce->create_all(asked, 2);
    ASSERT_FALSE(made.ok()) << part;
    EXPECT_EQ(made.error().code, Code::InvalidArgument);
    EXPECT_NE(made.error().message.find(part), std::string::npos) << made.error().message;
  };
  refused([](ServerSpec& s) { s.name = "Alpha_1"; }, "'Alpha_1' is no name of a server");
  refused([](ServerSpec& s) { s.name = "alpha-worker-0"; }, "the name occurs twice");
  refused([](ServerSpec& s) { s.request_id = "00000000-0000-0000-0000-000000000000"; },
          "must be a UUID that is not zero");
  refused([](ServerSpec& s) { s.request_id = "7"; }, "must be a UUID");
  refused([](ServerSpec& s) { s.offer.zone = "us/../east"; }, "is no zone");
  refused([](ServerSpec& s) { s.offer.gpu = "k81"; }, "has no GPU 'k81'; write k80,");
  refused([](ServerSpec& s) { s.offer.offer_class = OfferClass::Flex; }, "needs life_max");
  refused([](ServerSpec& s) { s.labels["Team"] = "x"; }, "'Team=x' is no label");
  refused([](ServerSpec& s) { s.startup.assign(300'000, 'x'); }, "more than 256 KiB");
  EXPECT_TRUE(harness.service.requests().empty());
}

TEST(GceCreate, TheFakeRefusesUnknownFieldsAndListsOfScheduling) {
  // The check of the check: bodies that earlier programs sent.
  using nlohmann::json;
  BulkGroup group = bulk_groups(specs(2), 2).front();
  json body = json::parse(bulk_body(group, GceMachines(), "image"));
  EXPECT_EQ(bulk_insert_fault(body), "");
  json list = body;
  list["instanceProperties"]["scheduling"] = json::array({{{"preemptible", true}}});
  EXPECT_NE(bulk_insert_fault(list).find("body.instanceProperties.scheduling"), std::string::npos);
  json unknown = body;
  unknown["instanceProperties"]["preemptible"] = true;
  EXPECT_NE(bulk_insert_fault(unknown).find("Unknown name \"preemptible\""), std::string::npos);
}

}  // namespace
}  // namespace orrery
