#pragma once

#include <string>
#include <vector>

#include "cloud/provider/testing/provider_fixture.h"

namespace orrery {

template <class Subject>
class ProviderCreation : public ProviderFixture<Subject> {};

TYPED_TEST_SUITE_P(ProviderCreation);

TYPED_TEST_P(ProviderCreation, OffersHaveAZoneAndAPrice) {
  const auto offers = this->provider().offers();
  ASSERT_TRUE(offers.ok()) << offers.error().message;
  ASSERT_FALSE(offers.value().empty());
  for (const Offer& offer : offers.value()) {
    EXPECT_FALSE(offer.zone.empty());
    EXPECT_GE(offer.price_usd_per_hour, 0);
  }
}

TYPED_TEST_P(ProviderCreation, TheAnswerIsInTheOrderOfTheSpecs) {
  const auto asked = this->specs(3);
  const auto made = this->provider().create_all(asked, 3);
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_EQ(made.value().size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(made.value()[i].spec.name, asked[i].name);
  EXPECT_EQ(live_servers(this->provider(), "alpha"), 3U);
  EXPECT_TRUE(this->provider().create_all({}, 0).ok());
}

TYPED_TEST_P(ProviderCreation, AServerIsRequestedThenRunsAtAnAddress) {
  const auto asked = this->running(2);
  using Kind = ServerEvent::Kind;
  for (const ServerSpec& spec : asked) {
    EXPECT_EQ(this->mirror.kinds(spec.name), (std::vector{Kind::Requested, Kind::Running}));
    EXPECT_LE(this->mirror.at(spec.name).requested, this->mirror.at(spec.name).running);
  }
  const auto listed = this->provider().list("alpha");
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed.value().size(), 2U);
  for (const Server& server : listed.value()) {
    EXPECT_EQ(server.state, ServerState::Running);
    EXPECT_FALSE(server.address.empty());
    EXPECT_EQ(server.spec.role, "worker");
    EXPECT_LE(server.running, this->provider().now());
  }
}

TYPED_TEST_P(ProviderCreation, ARepeatedCallMakesNothingTwice) {
  const auto asked = this->specs(2);
  const auto first = this->provider().create_all(asked, 2);
  const auto again = this->provider().create_all(asked, 2);
  ASSERT_TRUE(first.ok()) << first.error().message;
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_EQ(again.value().size(), 2U);
  EXPECT_EQ(again.value()[1].spec.name, asked[1].name);
  EXPECT_EQ(live_servers(this->provider(), "alpha"), 2U);
}

TYPED_TEST_P(ProviderCreation, ANameIsNeverUsedTwice) {
  auto asked = this->running(1);
  asked[0].request_id = "0badcafe-0000-4000-8000-000000000001";
  const auto second = this->provider().create_all(asked, 1);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::AlreadyExists) << second.error().message;
  EXPECT_EQ(live_servers(this->provider(), "alpha"), 1U);
}

TYPED_TEST_P(ProviderCreation, TooFewServersLeaveNoneAndNoEvents) {
  if (!this->subject.limit(2)) GTEST_SKIP() << "this provider has no limit";
  const auto refused = this->provider().create_all(this->specs(4), 3);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::ResourceExhausted) << refused.error().message;
  this->settle();
  EXPECT_EQ(live_servers(this->provider(), ""), 0U);
  EXPECT_EQ(this->mirror.sequence(), 0);
}

TYPED_TEST_P(ProviderCreation, EnoughServersAreKept) {
  if (!this->subject.limit(3)) GTEST_SKIP() << "this provider has no limit";
  const auto asked = this->specs(4);
  this->mirror.expect(asked);
  const auto made = this->provider().create_all(asked, 2);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made.value().size(), 3U);
  this->settle();
  EXPECT_EQ(live_servers(this->provider(), "alpha"), 3U);
}

TYPED_TEST_P(ProviderCreation, MoreThanWasAskedForIsTheCallersFault) {
  const auto refused = this->provider().create_all(this->specs(1), 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::InvalidArgument) << refused.error().message;
}

REGISTER_TYPED_TEST_SUITE_P(ProviderCreation, OffersHaveAZoneAndAPrice,
                            TheAnswerIsInTheOrderOfTheSpecs, AServerIsRequestedThenRunsAtAnAddress,
                            ARepeatedCallMakesNothingTwice, ANameIsNeverUsedTwice,
                            TooFewServersLeaveNoneAndNoEvents, EnoughServersAreKept,
                            MoreThanWasAskedForIsTheCallersFault);

}  // namespace orrery
