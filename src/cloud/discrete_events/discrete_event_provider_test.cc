#include "cloud/discrete_events/discrete_event_provider.h"

#include "cloud/provider/testing/provider_conformance.h"

namespace orrery {
namespace {

using Kind = ServerEvent::Kind;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Offer spot_in(const char* zone) {
  return {.zone = zone,
          .machine_type = "big",
          .gpu = "V100",
          .gpus = 1,
          .offer_class = OfferClass::Spot,
          .price_usd_per_hour = 0.36,
          .notice = seconds(30)};
}

ServerWorld world_of_two_zones() {
  ServerWorld world;
  world.offers = {spot_in("a"), spot_in("b")};
  world.start_up = [](const Offer&, Random&) { return Duration(seconds(80)); };
  return world;
}

class Subject final : public ProviderSubject {
 public:
  Provider& provider() override { return *provider_; }
  void advance(Duration time) override { provider_->advance(provider_->now() + time); }
  std::optional<Offer> offer(OfferClass offer_class) override {
    if (offer_class != OfferClass::Spot) return std::nullopt;
    return spot_in("a");
  }
  Duration settling() const override { return minutes(5); }
  bool limit(std::size_t servers) override {
    ServerWorld world = world_of_two_zones();
    world.capacity["a"] = static_cast<int>(servers);
    provider_ = std::make_unique<DiscreteEventProvider>(world);
    return true;
  }
  bool revoke(const std::string& server) override { return provider_->revoke(server).ok(); }

 private:
  static ServerWorld slow() {
    ServerWorld world = world_of_two_zones();
    world.stop_time = seconds(55);
    return world;
  }
  std::unique_ptr<DiscreteEventProvider> provider_ =
      std::make_unique<DiscreteEventProvider>(slow());
};
INSTANTIATE_TYPED_TEST_SUITE_P(DiscreteEvents, ProviderCreation, Subject);
INSTANTIATE_TYPED_TEST_SUITE_P(DiscreteEvents, ProviderEnds, Subject);

std::vector<ServerEvent> events_of(DiscreteEventProvider& provider) {
  return provider.events_after(0).value();
}

TEST(DiscreteEventProvider, GivesTheNoticeBeforeTheAgeOfTheRevocation) {
  ServerWorld world = world_of_two_zones();
  world.lifetime = [](const Offer&) { return Lifetime::fixed(hours(1)); };
  world.at_risk = minutes(5);
  DiscreteEventProvider provider(world);
  ASSERT_TRUE(provider.create_all({conformance_spec("j", 0, spot_in("a"))}, 1).ok());
  provider.advance(Time(hours(3)));
  const auto events = events_of(provider);
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[1].at, Time(seconds(80)));
  EXPECT_EQ(events[2].kind, Kind::AtRisk);
  EXPECT_EQ(events[2].at, Time(seconds(80) + minutes(54) + seconds(30)));
  EXPECT_EQ(events[3].kind, Kind::Notice);
  EXPECT_EQ(events[3].deadline, Time(seconds(80) + hours(1)));
  EXPECT_EQ(events[4].kind, Kind::Revoked);
  EXPECT_EQ(events[4].at, events[3].deadline);
}

TEST(DiscreteEventProvider, EndsALifeThatTheOfferLimits) {
  ServerWorld world = world_of_two_zones();
  world.lifetime = [](const Offer&) { return Lifetime::exponential(0); };
  DiscreteEventProvider provider(world);
  Offer offer = spot_in("a");
  offer.life_max = hours(24);
  ASSERT_TRUE(provider.create_all({conformance_spec("j", 0, offer)}, 1).ok());
  provider.advance(Time(hours(30)));
  const Server server = provider.list("j").value().at(0);
  EXPECT_EQ(server.end_reason, EndReason::LifeEnded);
  EXPECT_EQ(server.ended - server.running, hours(24));
}

TEST(DiscreteEventProvider, FollowsATraceOfTheZone) {
  ServerWorld world = world_of_two_zones();
  world.traces["a"] = {.tick = minutes(10), .available = {2, 2, 1, 0, 3}};
  DiscreteEventProvider provider(world);
  const auto spec = [](int index, const char* zone) {
    return conformance_spec("j", index, spot_in(zone));
  };
  EXPECT_FALSE(provider.create_all({spec(1, "a"), spec(2, "a"), spec(3, "a")}, 3).ok());
  ASSERT_TRUE(provider.create_all({spec(4, "a"), spec(5, "a"), spec(6, "b")}, 3).ok());
  provider.advance(Time(minutes(25)));
  EXPECT_EQ(live_servers(provider, "j"), 2U);
  provider.advance(Time(minutes(35)));
  EXPECT_EQ(live_servers(provider, "j"), 1U) << "the zone has none, the other zone has no trace";
  EXPECT_FALSE(provider.create_all({spec(7, "a")}, 1).ok());
  provider.advance(Time(minutes(45)));
  EXPECT_TRUE(provider.create_all({spec(8, "a")}, 1).ok());
}

TEST(DiscreteEventProvider, TracesAndGivenRevocationsCountFromItsStart) {
  ServerWorld world = world_of_two_zones();
  world.traces["a"] = {.tick = minutes(10), .available = {1, 1, 0}};
  world.revocations = {{.server = "j-worker-2", .at = Time(minutes(30))}};
  const Time start(hours(400'000));
  DiscreteEventProvider provider(world, start);
  const ServerSpec in_a = conformance_spec("j", 1, spot_in("a"));
  ServerSpec in_b = conformance_spec("j", 2, spot_in("b"));
  in_b.name = "j-worker-2";
  ASSERT_TRUE(provider.create_all({in_a, in_b}, 2).ok());
  provider.advance(start + minutes(15));
  EXPECT_EQ(live_servers(provider, "j"), 2U);
  provider.advance(start + minutes(25));
  EXPECT_EQ(live_servers(provider, "j"), 1U) << "the zone has none left";
  provider.advance(start + minutes(35));
  EXPECT_EQ(live_servers(provider, "j"), 0U);
}

TEST(DiscreteEventProvider, ShocksHitServersOfOneZoneTogether) {
  ServerWorld world = world_of_two_zones();
  world.shocks["a"] = {.per_hour = 1, .probability = 1};
  DiscreteEventProvider provider(world);
  std::vector<ServerSpec> specs;
  for (int i = 0; i < 6; ++i) specs.push_back(conformance_spec("j", i, spot_in(i < 3 ? "a" : "b")));
  ASSERT_TRUE(provider.create_all(specs, 6).ok());
  provider.advance(Time(hours(48)));
  std::vector<Time> ends;
  for (const Server& server : provider.list("j").value()) {
    EXPECT_EQ(has_ended(server), server.spec.offer.zone == "a");
    if (has_ended(server)) ends.push_back(server.ended);
  }
  EXPECT_EQ(ends, std::vector(3, ends[0]));
  EXPECT_NE(ends[0], kNever);
}

TEST(DiscreteEventProvider, RevokesByAGivenSchedule) {
  ServerWorld world = world_of_two_zones();
  world.revocations = {{.server = "j-worker-0", .at = Time(minutes(7))}};
  DiscreteEventProvider provider(world);
  ASSERT_TRUE(provider.create_all({conformance_spec("j", 0, spot_in("a"))}, 1).ok());
  provider.advance(Time(hours(1)));
  EXPECT_EQ(provider.list("j").value().at(0).ended, Time(minutes(7) + seconds(30)));
}

TEST(DiscreteEventProvider, SharesOfRevocationsFollowTheLifetime) {
  ServerWorld world = world_of_two_zones();
  world.lifetime = [](const Offer&) { return Lifetime::exponential(0.05).with_limit(hours(24)); };
  DiscreteEventProvider provider(world);
  std::vector<ServerSpec> specs;
  for (int i = 0; i < 2000; ++i) specs.push_back(conformance_spec("j", i, spot_in("a")));
  ASSERT_TRUE(provider.create_all(specs, 2000).ok());
  provider.advance(Time(hours(30)));
  int revoked = 0;
  for (const Server& server : provider.list("j").value()) {
    ASSERT_TRUE(has_ended(server));
    revoked += server.end_reason == EndReason::Revoked;
  }
  // 1 - exp(-1.2) of 2,000, four standard deviations either way.
  EXPECT_NEAR(revoked, 1398, 82);
}

TEST(DiscreteEventProvider, TheSameSeedGivesTheSameEvents) {
  const auto run = [](std::uint64_t seed) {
    ServerWorld world = world_of_two_zones();
    world.seed = seed;
    world.lifetime = [](const Offer&) { return Lifetime::weibull({.shape = 0.6, .scale_h = 9}); };
    world.shocks["b"] = {.per_hour = 0.5, .probability = 0.4};
    DiscreteEventProvider provider(world);
    std::vector<ServerSpec> specs;
    for (int i = 0; i < 20; ++i)
      specs.push_back(conformance_spec("j", i, spot_in(i % 2 ? "a" : "b")));
    EXPECT_TRUE(provider.create_all(specs, 20).ok());
    provider.advance(Time(hours(100)));
    std::string text;
    for (const ServerEvent& event : events_of(provider)) {
      text += fmt::format("{} {} {}\n", event.at.time_since_epoch().count(), event.server,
                          text_of(event.kind));
    }
    return text;
  };
  EXPECT_EQ(run(3), run(3));
  EXPECT_NE(run(3), run(4));
}

TEST(DiscreteEventProvider, AServersLuckDoesNotDependOnTheOthers) {
  const auto end_of_third = [](int servers) {
    ServerWorld world = world_of_two_zones();
    world.seed = 3;
    world.lifetime = [](const Offer&) { return Lifetime::exponential(0.05); };
    world.shocks["a"] = {.per_hour = 0.05, .probability = 0.5};
    DiscreteEventProvider provider(world);
    std::vector<ServerSpec> specs;
    for (int i = 0; i < servers; ++i) specs.push_back(conformance_spec("j", i, spot_in("a")));
    EXPECT_TRUE(provider.create_all(specs, 1).ok());
    provider.advance(Time(hours(1000)));
    return provider.list("").value()[2].ended;
  };
  EXPECT_EQ(end_of_third(3), end_of_third(9));
}

}  // namespace
}  // namespace orrery
