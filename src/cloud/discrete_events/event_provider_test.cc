#include "cloud/discrete_events/event_provider.h"

#include <gtest/gtest.h>

#include "cloud/provider/testing/provider_conformance.h"

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using Kind = ServerEvent::Kind;

Offer offer_in(const std::string& zone, OfferClass offer_class) {
  return {.zone = zone,
          .machine_type = "m",
          .gpu = "K80",
          .gpus = 1,
          .offer_class = offer_class,
          .price_usd_per_hour = 0.25,
          .notice = seconds(30)};
}

CloudModel two_zones() {
  return {.offers = {offer_in("a", OfferClass::Spot), offer_in("a", OfferClass::OnDemand),
                     offer_in("b", OfferClass::Spot)},
          .startup = same_for_all(seconds(80)),
          .life = same_for_all(kNoEnd)};
}

class Subject : public ProviderSubject {
 public:
  Provider& provider() override { return provider_; }
  void advance(Duration time) override { provider_.advance(provider_.now() + time); }
  std::optional<Offer> offer(OfferClass offer_class) override {
    if (offer_class == OfferClass::Flex) return std::nullopt;
    return offer_in("a", offer_class);
  }
  Duration settling() const override { return seconds(120); }
  bool limit(std::size_t servers) override {
    provider_.set_capacity("a", static_cast<int>(servers));
    return true;
  }
  bool revoke(const std::string& server) override { return provider_.revoke(server); }

 private:
  EventProvider provider_{two_zones(), 1};
};

INSTANTIATE_TYPED_TEST_SUITE_P(EventProvider, ProviderCreation, Subject);
INSTANTIATE_TYPED_TEST_SUITE_P(EventProvider, ProviderEnds, Subject);

std::vector<ServerSpec> specs(int count, const Offer& offer, const std::string& job = "job") {
  std::vector<ServerSpec> made;
  for (int i = 0; i < count; ++i) made.push_back(conformance_spec(job, i, offer));
  return made;
}

std::string line_of(const ServerEvent& event) {
  return fmt::format("{:.3f} {} {} {}", orrery::seconds(event.at), event.server,
                     text_of(event.kind), text_of(event.reason));
}

std::vector<std::string> lines(EventProvider& provider) {
  std::vector<std::string> lines;
  for (const ServerEvent& event : provider.events_after(0).value()) lines.push_back(line_of(event));
  return lines;
}

int revoked(EventProvider& provider) {
  int count = 0;
  for (const Server& server : provider.list("").value()) {
    count += server.end_reason == EndReason::Revoked ? 1 : 0;
  }
  return count;
}

TEST(EventProvider, AScheduleRevokesAfterANoticeAndARiskBefore) {
  CloudModel model = two_zones();
  model.life = scheduled({{"job-worker-0", seconds(500)}});
  model.at_risk = seconds(60);
  EventProvider provider(model, 1);
  ASSERT_TRUE(provider.create_all(specs(2, model.offers[0]), 2).ok());
  provider.advance(Time(hours(30)));
  EXPECT_EQ(lines(provider), (std::vector<std::string>{
                                 "0.000 job-worker-0 requested none",
                                 "0.000 job-worker-1 requested none",
                                 "80.000 job-worker-0 running none",
                                 "80.000 job-worker-1 running none",
                                 "410.000 job-worker-0 at-risk none",
                                 "470.000 job-worker-0 notice none",
                                 "500.000 job-worker-0 revoked revoked",
                             }));
  EXPECT_EQ(provider.list("").value()[0].deadline, Time(seconds(500)));
}

TEST(EventProvider, OnDemandServersAreNotRevokedAndALifeEndIsNoRevocation) {
  CloudModel model = two_zones();
  model.life = same_for_all(seconds(200));
  model.offers[0].life_max = Duration(seconds(150));
  EventProvider provider(model, 1);
  ASSERT_TRUE(provider.create_all(specs(1, model.offers[0], "spot"), 1).ok());
  ASSERT_TRUE(provider.create_all(specs(1, model.offers[1], "firm"), 1).ok());
  provider.advance(Time(hours(30)));
  EXPECT_EQ(provider.list("spot").value()[0].end_reason, EndReason::LifeEnded);
  EXPECT_EQ(provider.list("spot").value()[0].ended, Time(seconds(150)));
  EXPECT_EQ(provider.list("firm").value()[0].state, ServerState::Running);
}

TEST(EventProvider, ARevocationBeforeTheServerRunsHasNoNotice) {
  CloudModel model = two_zones();
  model.life = same_for_all(seconds(70));
  EventProvider provider(model, 1);
  ASSERT_TRUE(provider.create_all(specs(1, model.offers[0]), 1).ok());
  provider.advance(Time(hours(1)));
  EXPECT_EQ(lines(provider).back(), "70.000 job-worker-0 revoked revoked");
  EXPECT_EQ(lines(provider).size(), 2U);
}

TEST(EventProvider, EqualSeedsGiveEqualEvents) {
  const Lifetime lifetime = Lifetime::weibull({.shape = 0.6, .scale_h = 10});
  const auto run = [&](std::uint64_t seed) {
    CloudModel model = two_zones();
    model.life = drawn_from([&](const Offer&) -> const Lifetime& { return lifetime; });
    model.shocks = {.per_hour = 0.1, .probability = 0.5};
    EventProvider provider(model, seed);
    EXPECT_TRUE(provider.create_all(specs(20, model.offers[0]), 20).ok());
    provider.advance(Time(hours(10)));
    return lines(provider);
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

TEST(EventProvider, AServersLuckDoesNotDependOnTheOthers) {
  const Lifetime lifetime = Lifetime::exponential(0.5);
  const auto end_of_third = [&](int servers) {
    CloudModel model = two_zones();
    model.life = drawn_from([&](const Offer&) -> const Lifetime& { return lifetime; });
    EventProvider provider(model, 3);
    EXPECT_TRUE(provider.create_all(specs(servers, model.offers[0]), 1).ok());
    provider.advance(Time(hours(100)));
    return provider.list("").value()[2].ended;
  };
  EXPECT_EQ(end_of_third(3), end_of_third(9));
}

TEST(EventProvider, LivesFollowTheirDistribution) {
  const Lifetime lifetime = Lifetime::weibull({.shape = 0.601, .scale_h = 102.9});
  CloudModel model = two_zones();
  model.offers[0].life_max = Duration(hours(24));
  model.life = drawn_from([&](const Offer&) -> const Lifetime& { return lifetime; });
  EventProvider provider(model, 5);
  constexpr int kServers = 4000;
  ASSERT_TRUE(provider.create_all(specs(kServers, model.offers[0]), kServers).ok());
  provider.advance(Time(hours(25)));
  const double expected = kServers * (1 - lifetime.survival(hours(24)));
  EXPECT_NEAR(revoked(provider), expected, 4 * std::sqrt(expected));
}

TEST(EventProvider, AShockTakesSeveralServersOfOneZoneAtOnce) {
  CloudModel model = two_zones();
  model.shocks = {.per_hour = 0.2, .probability = 1};
  EventProvider provider(model, 4);
  ASSERT_TRUE(provider.create_all(specs(5, model.offers[0], "near"), 5).ok());
  ASSERT_TRUE(provider.create_all(specs(5, model.offers[2], "far"), 5).ok());
  ASSERT_TRUE(provider.create_all(specs(1, model.offers[1], "firm"), 1).ok());
  provider.advance(Time(hours(200)));
  const auto first = provider.list("near").value(), second = provider.list("far").value();
  for (const Server& server : first) EXPECT_EQ(server.ended, first[0].ended);
  EXPECT_EQ(first[0].end_reason, EndReason::Revoked);
  EXPECT_NE(second[0].ended, first[0].ended);
  EXPECT_EQ(provider.list("firm").value()[0].state, ServerState::Running);
}

TEST(EventProvider, ATraceOfCapacityRefusesAndRevokes) {
  CloudModel model = two_zones();
  model.capacities["a"] = capacity_of_trace(Time{}, seconds(100), {2, 2, 1, 0, 3});
  ASSERT_EQ(model.capacities["a"].size(), 4U);
  EventProvider provider(model, 1);
  const auto refused = provider.create_all(specs(3, model.offers[0]), 3);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "zone a has no capacity for job-worker-2: 2 of 3 servers, 3 are needed");
  ASSERT_TRUE(provider.create_all(specs(2, model.offers[0], "other"), 2).ok());
  provider.advance(Time(seconds(400)));
  EXPECT_EQ(provider.list("other").value()[1].ended, Time(seconds(230)));
  EXPECT_EQ(provider.list("other").value()[0].ended, Time(seconds(330)));
  EXPECT_TRUE(provider.create_all(specs(3, model.offers[0], "third"), 3).ok());
  EXPECT_TRUE(provider.create_all(specs(1, model.offers[1], "firm"), 1).ok());
}

TEST(EventProvider, ARefusedRequestIsRefusedAgain) {
  EventProvider provider(two_zones(), 1);
  provider.set_capacity("a", 1);
  const auto asked = specs(2, offer_in("a", OfferClass::Spot));
  ASSERT_EQ(provider.create_all(asked, 1).value().size(), 1U);
  provider.set_capacity("a", 5);
  EXPECT_EQ(provider.create_all(asked, 1).value().size(), 1U);
}

TEST(EventProvider, AnUnknownOfferIsTheCallersFault) {
  EventProvider provider(two_zones(), 1);
  const auto refused = provider.create_all(specs(1, offer_in("c", OfferClass::Spot)), 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::InvalidArgument);
}

}  // namespace
}  // namespace orrery
