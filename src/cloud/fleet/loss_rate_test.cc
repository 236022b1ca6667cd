#include "cloud/fleet/loss_rate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace orrery {
namespace {

Offer offer(const std::string& zone, OfferClass offer_class = OfferClass::Spot) {
  return {.zone = zone, .offer_class = offer_class};
}

Server lived(const Offer& at, int from_day, int to_day, EndReason reason) {
  const auto day = [](int days) { return Time(std::chrono::hours(24 * days)); };
  Server server{.end_reason = reason, .running = day(from_day), .ended = day(to_day)};
  server.spec.offer = at;
  if (reason != EndReason::None) server.state = ServerState::Ended;
  return server;
}

const Time kNow = Time(std::chrono::hours(24 * 100));

TEST(LossRate, NothingSeenIsOneADayForSpotAndNoneForOnDemand) {
  EXPECT_EQ(losses_per_day({}, offer("a"), kNow), 1);
  EXPECT_EQ(losses_per_day({}, offer("a", OfferClass::OnDemand), kNow), 0);
}

TEST(LossRate, AZoneWithLossesIsWorseThanOneWithout) {
  const std::vector<Server> servers = {lived(offer("a"), 0, 10, EndReason::ClusterStop),
                                       lived(offer("b"), 0, 10, EndReason::Revoked),
                                       lived(offer("b"), 10, 20, EndReason::HostError)};
  // 3 losses in 31 days, with what is assumed.
  EXPECT_NEAR(losses_per_day(servers, offer("a"), kNow), 1 / (10 + 31.0 / 3), 1e-12);
  EXPECT_NEAR(losses_per_day(servers, offer("b"), kNow), 3 / (20 + 31.0 / 3), 1e-12);
  EXPECT_NEAR(losses_per_day(servers, offer("c"), kNow), 3 / 31.0, 1e-12);
}

TEST(LossRate, AServerThatRunsHasLivedAndOneThatNeverRanHasNot) {
  Server runs = lived(offer("a"), 60, 0, EndReason::None);
  runs.ended = kNever;
  runs.state = ServerState::Running;
  Server never = lived(offer("a"), 0, 50, EndReason::StockOut);
  never.running = kNever;
  const std::vector<Server> servers = {runs, never};
  EXPECT_NEAR(losses_per_day(servers, offer("a"), kNow), 1 / (40 + 41.0), 1e-12);
}

TEST(LossRate, AnOnDemandServerIsNotBlamedForSpotLosses) {
  const std::vector<Server> servers = {lived(offer("a"), 0, 1, EndReason::Revoked)};
  EXPECT_EQ(losses_per_day(servers, offer("a", OfferClass::OnDemand), kNow), 0);
  EXPECT_GT(losses_per_day(servers, offer("a"), kNow), 1);
}

}  // namespace
}  // namespace orrery
