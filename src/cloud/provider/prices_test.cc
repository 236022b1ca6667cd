#include "cloud/provider/prices.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr std::string_view kPrices = R"(date = "2019-02-15"
source = "a test"
[[offer]]
zones = ["a-1", "b-1"]
machine_type = "big"
gpu = "K80"
cpus = 4
memory_gib = 61
class = "spot"
usd_per_hour = 0.2556
life_max = "24h"
notice = "30s"
[[offer]]
zones = ["a-1"]
gpu = "K80"
class = "on-demand"
usd_per_hour = 0.722988
[[offer]]
zones = ["a-1"]
gpu = "V100"
gpus = 8
class = "spot"
usd_per_hour = 6
)";

PriceList good() {
  auto prices = parse_prices("prices.toml", kPrices);
  EXPECT_TRUE(prices.ok()) << prices.error().message;
  return std::move(prices).value();
}

std::string fault(std::string_view text) {
  auto prices = parse_prices("prices.toml", text);
  EXPECT_FALSE(prices.ok()) << text;
  return prices.ok() ? "" : prices.error().message;
}

std::string one_offer(std::string_view lines) {
  return "date = \"2019-02-15\"\n[[offer]]\n" + std::string(lines);
}

TEST(Prices, AnOfferStandsForEachOfItsZones) {
  const PriceList prices = good();
  EXPECT_EQ(prices.date, "2019-02-15");
  EXPECT_EQ(prices.source, "a test");
  ASSERT_EQ(prices.offers.size(), 4U);
  EXPECT_EQ(prices.offers[1].zone, "b-1");
  EXPECT_EQ(prices.offers[1].gpus, 1);
  EXPECT_EQ(prices.offers[1].life_max, Duration(std::chrono::hours(24)));
  EXPECT_EQ(prices.offers[1].notice, Duration(std::chrono::seconds(30)));
  EXPECT_EQ(prices.offers[2].life_max, std::nullopt);
}

TEST(Prices, AnOfferIsFoundByZoneGpuCountAndClass) {
  const auto offer = find_offer(good(), "b-1", "K80", 1, OfferClass::Spot);
  ASSERT_TRUE(offer.ok());
  EXPECT_EQ(offer.value().price_usd_per_hour, 0.2556);
}

TEST(Prices, TheOnDemandOfferOfTheSameMachineMayBeUnknown) {
  const PriceList prices = good();
  const auto twin = same_on_demand(prices, prices.offers[0]);
  ASSERT_TRUE(twin.has_value());
  EXPECT_EQ(twin->price_usd_per_hour, 0.722988);
  EXPECT_FALSE(same_on_demand(prices, prices.offers[1]).has_value());
}

TEST(Prices, WhatIsMissingIsListedBesideWhatThereIs) {
  const PriceList prices = good();
  EXPECT_EQ(find_offer(prices, "c-1", "K80", 1, OfferClass::Spot).error().message,
            "prices.toml (2019-02-15): there is no zone 'c-1'; the zones are a-1, b-1");
  EXPECT_EQ(find_offer(prices, "a-1", "T4", 1, OfferClass::Spot).error().message,
            "prices.toml (2019-02-15): there is no GPU 'T4'; the GPUs are K80, V100");
  const Error error = find_offer(prices, "b-1", "V100", 1, OfferClass::OnDemand).error();
  EXPECT_EQ(error.code, Code::NotFound);
  EXPECT_EQ(error.message,
            "prices.toml (2019-02-15): there is no price for on-demand 1 x V100 in b-1; "
            "there is spot 1 x K80");
}

TEST(Prices, FaultsNameTheLineAndTheRemedy) {
  EXPECT_EQ(fault("[[offer]]\n"), "prices.toml:1: 'date' is missing");
  EXPECT_EQ(fault("date = \"2019-02-15\"\n"), "prices.toml:1: 'offer' is missing");
  EXPECT_EQ(fault("offer = []\ndate = \"2019-13-15\"\n"),
            "prices.toml:2: 'date': must be a day such as \"2019-02-15\"");
  EXPECT_EQ(fault("offer = []\ndate = \"2019-12-15\"\n"),
            "prices.toml:1: 'offer': is empty; a price list needs an offer");
  EXPECT_EQ(fault(one_offer("zones = [\"a\"]\nclass = \"spot\"\n")),
            "prices.toml:2: 'usd_per_hour' is missing in [[offer]]");
  EXPECT_EQ(fault(one_offer("zones = [\"a\"]\nclass = \"cheap\"\nusd_per_hour = 1\n")),
            "prices.toml:4: 'class': must be \"on-demand\", \"spot\" or \"flex\"");
  EXPECT_EQ(fault(one_offer("zones = [\"a\"]\nclass = \"spot\"\nusd_per_hour = -1\n")),
            "prices.toml:5: 'usd_per_hour': -1 is outside 0 to 100000");
  EXPECT_EQ(fault(one_offer("zones = [\"a b\"]\nclass = \"spot\"\nusd_per_hour = 1\n")),
            "prices.toml:3: 'zones': 'a b' must be letters, digits, '-', '_' or '.'");
  EXPECT_EQ(fault(one_offer("zones = [\"a\", \"a\"]\nclass = \"spot\"\nusd_per_hour = 1\n")),
            "prices.toml:3: 'zones': there is a price for spot without GPU in a already");
  EXPECT_EQ(fault(one_offer("zones = [\"a\"]\nclass = \"spot\"\nusd_per_hour = 1\ngpus = 2\n")),
            "prices.toml:6: 'gpus': a machine with GPUs has both a 'gpu' and 'gpus' of 1 or more");
  EXPECT_EQ(fault(one_offer("zones = [\"a\"]\nclass = \"flex\"\nusd_per_hour = 1\n")),
            "prices.toml:2: 'life_max' is missing in [[offer]]; flex machines end after a fixed "
            "life");
  EXPECT_EQ(fault(one_offer("zone = \"a\"\n")),
            "prices.toml:3: unknown key 'zone'; the known ones are zones, machine_type, gpu, gpus, "
            "cpus, memory_gib, class, usd_per_hour, life_max, notice");
}

TEST(Prices, AMissingFileIsNamed) {
  const auto prices = read_prices("/nowhere/prices.toml");
  ASSERT_FALSE(prices.ok());
  EXPECT_EQ(prices.error().code, Code::NotFound);
  EXPECT_EQ(prices.error().message, "/nowhere/prices.toml: No such file or directory");
}

TEST(Prices, TheFileOf2019HasThePublishedRates) {
  const auto prices = read_prices(std::string(ORRERY_SOURCE) + "/data/prices/gce-2019-02.toml");
  ASSERT_TRUE(prices.ok()) << prices.error().message;
  const auto per_second = [&](std::string_view gpu, int gpus, OfferClass offer_class) {
    auto offer = find_offer(prices.value(), "us-west1-b", gpu, gpus, offer_class);
    return offer.ok() ? offer.value().price_usd_per_hour / 3600 : -1;
  };
  EXPECT_NEAR(per_second("K80", 1, OfferClass::OnDemand), 0.00020083, 1e-15);
  EXPECT_NEAR(per_second("K80", 1, OfferClass::Spot), 0.000071, 1e-15);
  EXPECT_NEAR(per_second("P100", 1, OfferClass::Spot), 0.0001530555556, 1e-13);
  EXPECT_NEAR(per_second("V100", 1, OfferClass::Spot), 0.0002391666667, 1e-13);
  EXPECT_NEAR(per_second("", 0, OfferClass::OnDemand), 0.0000397, 1e-15);
}

}  // namespace
}  // namespace orrery
