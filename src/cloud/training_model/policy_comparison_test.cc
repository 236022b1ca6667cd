#include "cloud/training_model/policy_comparison.h"

#include <gtest/gtest.h>

#include <numeric>

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

Offer worker(const std::string& zone, OfferClass offer_class, double usd_per_hour) {
  return {.zone = zone,
          .machine_type = "m",
          .gpu = "K80",
          .gpus = 1,
          .offer_class = offer_class,
          .price_usd_per_hour = usd_per_hour,
          .notice = seconds(30)};
}

class Campaign {
 public:
  Campaign() {
    offers = {worker("a-1", OfferClass::Spot, 0.25), worker("a-1", OfferClass::OnDemand, 0.75),
              worker("a-2", OfferClass::Spot, 0.25)};
    Offer server{.zone = "a-1", .machine_type = "m", .price_usd_per_hour = 0.14};
    training.steps = 400'000;
    training.workers.assign(4, offers[0]);
    training.parameter_servers = {server};
    training.replacements = offers;
    training.speeds = {.steps_per_s = {{"K80", 4.5}}};
    training.startup = seconds(80);
    training.join = seconds(60);
    training.lifetime_of = [this](const Offer& offer) -> const Lifetime& {
      return offer.offer_class == OfferClass::Spot ? spot_life : never;
    };
    world.offers = offers;
    world.offers.push_back(server);
    world.start_up = [](const Offer&, Random&) { return Duration(seconds(80)); };
    world.lifetime = [this](const Offer&) { return spot_life; };
  }

  std::vector<PolicyResult> compare(int runs, std::vector<std::string> words = {}) {
    const auto policies = compared_policies(training, offers, words);
    EXPECT_TRUE(policies.ok()) << policies.error().message;
    std::vector<std::uint64_t> seeds(static_cast<std::size_t>(runs));
    std::iota(seeds.begin(), seeds.end(), 1);
    auto results = compare_replacements(training, world, policies.value(), seeds);
    EXPECT_TRUE(results.ok()) << results.error().message;
    return std::move(results).value();
  }

  Lifetime spot_life = Lifetime::exponential(0.1);
  Lifetime never = Lifetime::exponential(0);
  std::vector<Offer> offers;
  TransientTraining training;
  ServerWorld world;
};

TEST(PolicyComparison, EqualSeedsGiveEqualResults) {
  Campaign campaign;
  const auto first = campaign.compare(20), second = campaign.compare(20);
  ASSERT_EQ(first.size(), 7U);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].usd.mean, second[i].usd.mean);
    EXPECT_EQ(first[i].time_s.p90, second[i].time_s.p90);
  }
}

TEST(PolicyComparison, AReplacementIsFasterThanGoingOnAndSpotIsCheaperThanOnDemand) {
  Campaign campaign;
  const auto results = campaign.compare(100, {"all-on-demand", "go-on", "same", "cheapest-spot"});
  const PolicyResult &firm = results[0], &go_on = results[1], &same = results[2];
  EXPECT_EQ(firm.finished, 100);
  EXPECT_EQ(firm.losses, 0);
  EXPECT_NEAR(firm.time_s.p10, firm.time_s.p90, 1e-6);
  EXPECT_EQ(same.finished, 100);
  EXPECT_LT(same.time_s.mean, go_on.time_s.mean);
  EXPECT_LT(same.usd.mean, 0.5 * firm.usd.mean);
  EXPECT_LT(results[3].usd.mean, 0.5 * firm.usd.mean);
}

TEST(PolicyComparison, FailedRunsCountInTheCostOfFinishedOnes) {
  Campaign campaign;
  campaign.spot_life = Lifetime::exponential(0.2);
  const auto results = campaign.compare(100, {"go-on"});
  EXPECT_LT(results[0].finished, 50);
  EXPECT_GT(results[0].finished, 0);
  EXPECT_GT(results[0].usd_per_finished, 1.5 * results[0].usd.mean);
}

TEST(PolicyComparison, OnlyPoliciesThatNoOtherBeatsAreTradeoffs) {
  const auto of = [](double time_s, double usd, int finished = 1) {
    PolicyResult result;
    result.time_s.mean = time_s;
    result.usd_per_finished = usd;
    result.finished = finished;
    return result;
  };
  const std::vector<PolicyResult> results = {of(3, 1), of(1, 3), of(3, 2), of(2, 2), of(0, 0, 0)};
  EXPECT_EQ(best_tradeoffs(results), (std::vector<std::size_t>{1, 3, 0}));
}

TEST(PolicyComparison, UnknownPoliciesAreNamed) {
  Campaign campaign;
  const std::vector<std::string> words = {"never"};
  EXPECT_EQ(compared_policies(campaign.training, campaign.offers, words).error().message,
            "there is no policy 'never'; the policies are all-on-demand, go-on, same, cheapest, "
            "cheapest-spot, on-demand, fall-back");
  const std::vector<std::string> firm = {"all-on-demand"};
  EXPECT_FALSE(compared_policies(campaign.training, {}, firm).ok());
}

}  // namespace
}  // namespace orrery
