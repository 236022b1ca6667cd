#include "cloud/provider/server.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using Kind = ServerEvent::Kind;

Server spot_server() {
  Server server;
  server.spec.name = "job-worker-0";
  server.spec.offer.offer_class = OfferClass::Spot;
  server.spec.offer.price_usd_per_hour = 0.36;
  return server;
}

ServerEvent event(Kind kind, double at_s) {
  ServerEvent event;
  event.kind = kind;
  event.at = time_from_seconds(at_s);
  return event;
}

TEST(Offer, ItsRegionIsItsZoneWithoutTheLetter) {
  EXPECT_EQ(region_of("us-east1-c"), "us-east1");
  EXPECT_EQ(region_of("here"), "here");
}

TEST(Server, GoesFromItsRequestToItsRevocation) {
  Server server = spot_server();
  ASSERT_TRUE(apply(server, event(Kind::Requested, 10)).ok());
  ASSERT_TRUE(apply(server, event(Kind::Running, 90)).ok());
  EXPECT_TRUE(is_up(server));
  ServerEvent notice = event(Kind::Notice, 300);
  notice.deadline = time_from_seconds(330);
  ASSERT_TRUE(apply(server, notice).ok());
  EXPECT_TRUE(is_up(server));
  EXPECT_EQ(server.deadline, time_from_seconds(330));
  ASSERT_TRUE(apply(server, event(Kind::Revoked, 330)).ok());
  EXPECT_FALSE(is_up(server));
  EXPECT_EQ(server.end_reason, EndReason::Revoked);
  EXPECT_EQ(server.ended, time_from_seconds(330));
}

TEST(Server, MayBeRevokedBeforeItRuns) {
  Server server = spot_server();
  ASSERT_TRUE(apply(server, event(Kind::Requested, 10)).ok());
  ASSERT_TRUE(apply(server, event(Kind::Revoked, 40)).ok());
  EXPECT_EQ(server.end_reason, EndReason::Revoked);
  EXPECT_EQ(cost_usd(server, time_from_seconds(100)), 0);
}

TEST(Server, TakesNoEventAfterItsEnd) {
  Server server = spot_server();
  ASSERT_TRUE(apply(server, event(Kind::Requested, 10)).ok());
  ServerEvent failure = event(Kind::Failed, 12);
  failure.reason = EndReason::StockOut;
  ASSERT_TRUE(apply(server, failure).ok());
  EXPECT_EQ(server.end_reason, EndReason::StockOut);
  const Status late = apply(server, event(Kind::Running, 13));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().message,
            "job-worker-0: event 0 'running' cannot follow the state 'ended'");
  EXPECT_EQ(server.running, kNever);
}

TEST(Server, RunsOnceAndIsNoticedOnce) {
  Server server = spot_server();
  ASSERT_TRUE(apply(server, event(Kind::Requested, 10)).ok());
  EXPECT_FALSE(apply(server, event(Kind::Requested, 11)).ok());
  ASSERT_TRUE(apply(server, event(Kind::Running, 20)).ok());
  EXPECT_FALSE(apply(server, event(Kind::Running, 21)).ok());
  ASSERT_TRUE(apply(server, event(Kind::Notice, 30)).ok());
  EXPECT_FALSE(apply(server, event(Kind::Notice, 31)).ok());
  EXPECT_EQ(server.noticed, time_from_seconds(30));
}

TEST(Server, CostsFromItsRequestToItsEnd) {
  Server server = spot_server();
  ASSERT_TRUE(apply(server, event(Kind::Requested, 100)).ok());
  ASSERT_TRUE(apply(server, event(Kind::Running, 200)).ok());
  EXPECT_DOUBLE_EQ(cost_usd(server, time_from_seconds(3700)), 0.36);
  ASSERT_TRUE(apply(server, event(Kind::Stopped, 1900)).ok());
  EXPECT_DOUBLE_EQ(cost_usd(server, time_from_seconds(9999)), 0.18);
}

TEST(ServerWords, ReadBackWhatTheyPrint) {
  for (int i = 0; i <= static_cast<int>(EndReason::LaunchError); ++i) {
    const auto reason = static_cast<EndReason>(i);
    EXPECT_EQ(end_reason_of(text_of(reason)), reason);
  }
  for (int i = 0; i <= static_cast<int>(ServerState::Ended); ++i) {
    const auto state = static_cast<ServerState>(i);
    EXPECT_EQ(server_state_of(text_of(state)), state);
  }
  for (int i = 0; i <= static_cast<int>(OfferClass::Flex); ++i) {
    const auto offer_class = static_cast<OfferClass>(i);
    EXPECT_EQ(offer_class_of(text_of(offer_class)), offer_class);
  }
  EXPECT_EQ(offer_class_of("cheap"), std::nullopt);
}

}  // namespace
}  // namespace orrery
