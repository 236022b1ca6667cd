#include "cloud/transient_run/transient_spec.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

PriceList prices() {
  PriceList list{.name = "prices.toml", .date = "2019-02-15", .source = {}, .offers = {}};
  for (const char* const zone : {"us-east1-c", "us-west1-b"}) {
    for (const char* const gpu : {"K80", "P100", ""}) {
      for (const OfferClass offer_class : {OfferClass::OnDemand, OfferClass::Spot}) {
        list.offers.push_back({.zone = zone,
                               .gpu = gpu,
                               .gpus = *gpu != '\0' ? 1 : 0,
                               .offer_class = offer_class,
                               .price_usd_per_hour = 1});
      }
    }
  }
  return list;
}

constexpr const char* kCluster = R"(
name = "mixed"
prices = "prices.toml"
[chief]
gpu = "K80"
zone = "us-east1-c"
preemptible = false
[workers]
count = 2
gpu = ["K80", "P100"]
zone = ["us-east1-c", "us-west1-b"]
[parameter_servers]
count = 2
zone = ["us-west1-b", "us-east1-c"]
[evaluator]
zone = "us-east1-c"
[training]
model = "mlp"
steps = 500
rate_rule = "naive"
slots = 20
[local]
compression = 60
lifetimes = ["K80=weibull:0.6,102.9+24h"]
)";

Result<std::vector<ServerPlace>> places_of(const std::string& text) {
  TRY_ASSIGN(const TransientSpec spec, parse_transient_spec("job.toml", text));
  return server_places(spec, prices());
}

TEST(TransientSpec, EachServerHasTheGpuAndZoneOfItsPlaceInTheLists) {
  const auto places = places_of(kCluster);
  ASSERT_TRUE(places.ok()) << places.error().message;
  ASSERT_EQ(places.value().size(), 6U);
  const auto& at = places.value();
  EXPECT_EQ(at[0].role, "chief");
  EXPECT_EQ(at[0].offer.offer_class, OfferClass::OnDemand);
  EXPECT_EQ(at[1].role, "worker");
  EXPECT_EQ(at[1].index, 1);
  EXPECT_EQ(at[2].offer.gpu, "P100");
  EXPECT_EQ(at[2].offer.zone, "us-west1-b");
  EXPECT_EQ(at[2].offer.offer_class, OfferClass::Spot);
  // Parameter servers have the zones in the order in which they are written.
  EXPECT_EQ(at[3].offer.zone, "us-west1-b");
  EXPECT_EQ(at[4].offer.zone, "us-east1-c");
  EXPECT_EQ(at[3].offer.offer_class, OfferClass::OnDemand);
  EXPECT_EQ(at[5].role, "evaluator");
}

TEST(TransientSpec, OneWordIsForAllServersOfARole) {
  const auto places = places_of(
      "[chief]\ngpu='K80'\nzone='us-east1-c'\n[workers]\ncount=3\ngpu='P100'\nzone='us-west1-b'\n"
      "[parameter_servers]\nzone='us-east1-c'\n[evaluator]\nzone='us-east1-c'\n");
  ASSERT_TRUE(places.ok()) << places.error().message;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(places.value()[static_cast<std::size_t>(i)].offer.gpu, "P100");
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TransientSpec, AListOfTheWrongLengthNamesTheRoleThatLacksAnEntry) {
  const std::string text = kCluster;
  EXPECT_EQ(
      places_of(replaced(text, "count = 2\ngpu", "count = 3\ngpu")).error().message,
      "workers: GPUs named: 2, servers: 3: worker-3 lacks an entry; write one for all, or one "
      "for each");
  EXPECT_EQ(places_of(replaced(text, "count = 2\nzone", "count = 1\nzone")).error().message,
            "parameter_servers: zones named: 2, servers: 1; write one for all, or one for each");
  EXPECT_EQ(places_of(replaced(text, "[evaluator]\nzone = \"us-east1-c\"", "")).error().message,
            "evaluator: no zone is named; write one for all, or one for each of 1");
}

TransientSpec two_of_each() {
  TransientSpec spec;
  spec.workers.count = spec.parameter_servers.count = 2;
  return spec;
}

TEST(TransientSpec, OneListOfZonesGoesToChiefWorkersAndParameterServersInTheirOrder) {
  TransientSpec spec = two_of_each();
  ASSERT_TRUE(assign_zones({"a", "b", "c", "d", "e"}, spec).ok());
  EXPECT_EQ(spec.chief.zones, std::vector<std::string>{"a"});
  EXPECT_EQ(spec.workers.zones, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(spec.parameter_servers.zones, (std::vector<std::string>{"d", "e"}));
  ASSERT_TRUE(assign_zones({"z"}, spec).ok());
  EXPECT_EQ(spec.workers.zones, std::vector<std::string>{"z"});
}

TEST(TransientSpec, OneListOfTheWrongLengthNamesTheServerThatLacksAnEntry) {
  TransientSpec spec = two_of_each();
  const std::string order = ", in the order chief, workers, parameter servers";
  // Four zones are no short form of "one for both parameter servers".
  EXPECT_EQ(assign_zones({"a", "b", "c", "d"}, spec).error().message,
            "zones named: 4, servers: 5: ps-1 lacks an entry; write one for all, or one for each" +
                order);
  EXPECT_EQ(
      assign_gpus({"K80", "P100"}, spec).error().message,
      "GPUs named: 2, servers: 3: worker-2 lacks an entry; write one for all, or one for each" +
          order);
  EXPECT_EQ(assign_gpus({"K80", "K80", "K80", "K80"}, spec).error().message,
            "GPUs named: 4, servers: 3; write one for all, or one for each" + order);
}

TEST(TransientSpec, UnknownZonesAndGpusAreErrorsThatListWhatThereIs) {
  const auto zone = places_of(replaced(kCluster, "us-west1-b", "us-north9-z"));
  ASSERT_FALSE(zone.ok());
  EXPECT_NE(zone.error().message.find("workers: "), std::string::npos) << zone.error().message;
  EXPECT_NE(zone.error().message.find("us-north9-z"), std::string::npos) << zone.error().message;
  const auto gpu = places_of(replaced(kCluster, "P100", "H100"));
  ASSERT_FALSE(gpu.ok());
  EXPECT_NE(gpu.error().message.find("H100"), std::string::npos) << gpu.error().message;
}

TEST(TransientSpec, FaultsNameFileLineAndKey) {
  const auto fault = [](const std::string& text) {
    const auto spec = parse_transient_spec("job.toml", text);
    return spec.ok() ? "" : spec.error().message;
  };
  EXPECT_NE(fault("[chief]\ngpus = 'K80'\n").find("job.toml:2"), std::string::npos);
  EXPECT_NE(fault("[training]\nrate_rule = 'fast'\n").find("inverse-root, linear, none or naive"),
            std::string::npos);
  EXPECT_NE(fault("replacement = 'never'\n").find("cheapest-spot"), std::string::npos);
  EXPECT_NE(fault("[local]\ncompression = 0\n").find("must be above 0"), std::string::npos);
  EXPECT_NE(fault("[workers]\ncount = -1\n").find("write 0 or more"), std::string::npos);
  EXPECT_NE(fault("[speeds]\nK80 = 'fast'\n").find("speed of K80"), std::string::npos);
  EXPECT_NE(fault("chief = 3\n").find("is no table"), std::string::npos);
}

TEST(TransientSpec, AClusterHasOneChiefAndAParameterServer) {
  EXPECT_EQ(places_of("[chief]\ncount = 2\n").error().message,
            "chief: a cluster has one; write count = 1");
  EXPECT_NE(places_of("[parameter_servers]\ncount = 0\n").error().message.find("need a server"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
