#include "cloud/provider_file/provider_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_folder.h"

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr const char* kPrices = R"(date = "2026-11-01"
source = "test"
[[offer]]
zones = ["a", "b"]
machine_type = "m4"
gpu = "V100"
gpus = 4
class = "spot"
usd_per_hour = 4.0
[[offer]]
zones = ["a"]
machine_type = "m1"
gpu = "K80"
class = "on-demand"
usd_per_hour = 0.7
[[offer]]
zones = ["a"]
machine_type = "cpu"
class = "on-demand"
usd_per_hour = 0.1
)";

class ProviderFileTest : public ::testing::Test {
 protected:
  Result<ProviderFile> read(const std::string& text, std::string_view kind = "local") {
    folder_.write("prices.toml", kPrices);
    return read_provider_file(kind, folder_.write("servers.toml", text));
  }
  std::string refusal(const std::string& text, std::string_view kind = "local") {
    const auto read_file = read(text, kind);
    if (read_file.ok()) return "accepted";
    const std::string& message = read_file.error().message;
    const std::string place = folder_ / "servers.toml";
    return message.starts_with(place) ? message.substr(place.size()) : message;
  }
  const TestFolder folder_;
};

TEST_F(ProviderFileTest, TakesOffersWithGpusAndLimits) {
  const auto file = read(R"(prices = "prices.toml"
cluster = "night"
zones = ["a"]
classes = ["spot", "on-demand"]
servers_min = 1
servers_max = 7
idle = "90s"
budget_usd = 12.5
[local]
speed = 60
life_max = "24h"
lifetime_mean = "10h"
capacity = 3
shocks_per_hour = 0.5
shock_probability = 0.25
)");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const ProviderFile& read = file.value();
  ASSERT_EQ(read.offers.size(), 2U) << "V100 and K80 of zone a; a machine without GPUs is none";
  EXPECT_EQ(read.cluster, "night");
  EXPECT_EQ(read.rules.servers_min, 1);
  EXPECT_EQ(read.rules.servers_max, 7);
  EXPECT_EQ(read.rules.idle_max, Duration(std::chrono::seconds(90)));
  EXPECT_EQ(read.rules.budget_usd, 12.5);
  EXPECT_EQ(read.speed, 60);
  EXPECT_EQ(read.world.capacity.at("a"), 3);
  EXPECT_EQ(read.world.shocks.at("a").probability, 0.25);
  const auto lifetime = read.world.lifetime(read.offers[0]);
  ASSERT_TRUE(lifetime.has_value());
  EXPECT_EQ(lifetime->limit(), Duration(hours(24)));
  EXPECT_NEAR(lifetime->survival(hours(10)), 0.3679, 1e-4);
}

TEST_F(ProviderFileTest, WithoutALifetimeNoServerIsRevokedForItsAge) {
  const auto file = read("prices = \"prices.toml\"\n");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_FALSE(file.value().world.lifetime(file.value().offers[0]).has_value());
}

TEST_F(ProviderFileTest, RefusesWhatItCannotUseWithLineAndRemedy) {
  const std::string prices = "prices = \"prices.toml\"\n";
  EXPECT_EQ(refusal("cluster = \"x\"\n"), ":1: 'prices' is missing");
  EXPECT_EQ(refusal(prices + "zones = [\"c\"]\n"),
            ":2: 'zones': the price list has no 'c'; it has a, b");
  EXPECT_EQ(refusal(prices + "gpus = [\"T4\"]\n"),
            ":2: 'gpus': the price list has no 'T4'; it has K80, V100");
  EXPECT_EQ(refusal(prices + "zones = [\"b\"]\ngpus = [\"K80\"]\n"),
            ":1: no offer of the price list has GPUs and is allowed here");
  EXPECT_EQ(refusal(prices + "servers_min = 5\nservers_max = 4\n"),
            ":3: 'servers_max': write 0 <= servers_min <= servers_max <= 100000");
  EXPECT_EQ(refusal(prices + "[local]\nweibull_shape = 0.6\n"),
            ":3: 'weibull_shape': a Weibull distribution needs a shape and a scale above 0");
  EXPECT_NE(refusal(prices + "[local]\nspeeed = 2\n").find("unknown key 'speeed'"),
            std::string::npos);
  EXPECT_EQ(refusal(prices, "gce"), ":1: write a table [gce]");
  EXPECT_EQ(refusal(prices + "[gce]\ndisk_gib = 20\n", "gce"),
            ":2: write 'project', or the 'key_file' of a service account, which names it");
  EXPECT_EQ(refusal(prices, "aws"), "--provider aws: write local or gce");
}

TEST_F(ProviderFileTest, ZonesFollowRecordedCapacityAndServersAreRevokedAtGivenInstants) {
  folder_.write("a.json", R"({"metadata":{"gap_seconds":300},"data":[2,0,1]})");
  const auto file = read(R"(prices = "prices.toml"
[local.traces]
a = "a.json"
[[local.revocations]]
server = "orrery-1"
at = "10m"
)");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const ServerWorld& world = file.value().world;
  EXPECT_EQ(world.traces.at("a").tick, Duration(minutes(5)));
  EXPECT_EQ(world.traces.at("a").available, (std::vector<int>{2, 0, 1}));
  ASSERT_EQ(world.revocations.size(), 1U);
  EXPECT_EQ(world.revocations[0].server, "orrery-1");
  EXPECT_EQ(world.revocations[0].at, Time(minutes(10)));
  const std::string prices = "prices = \"prices.toml\"\n";
  EXPECT_EQ(refusal(prices + "[local.traces]\nc = \"a.json\"\n"),
            ":3: no offer of this file is in zone 'c'");
  EXPECT_EQ(refusal(prices + "[local.traces]\na = 3\n"), ":3: write the path of a spot trace");
  EXPECT_NE(refusal(prices + "[[local.revocations]]\nserver = \"x\"\n").find("'at' is missing"),
            std::string::npos);
}

TEST_F(ProviderFileTest, ServersLiveAsLongAsMeasuredOnes) {
  const std::string lives = std::string(ORRERY_SHARED) + "/data/transient/lifetime/lifetime.csv";
  if (!std::filesystem::exists(lives)) GTEST_SKIP() << lives << " is not there";
  const std::string local = "prices = \"prices.toml\"\n[local]\nlifetimes = \"" + lives + "\"\n";
  const auto file = read(local);
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto lifetime = file.value().world.lifetime(file.value().offers[0]);
  ASSERT_TRUE(lifetime.has_value());
  EXPECT_NEAR(lifetime->survival(hours(12)), 1 - 0.063, 5e-4) << "V100";
  EXPECT_EQ(lifetime->survival(hours(24)), 0);
  EXPECT_NE(refusal(local + "lifetime_mean = \"1h\"\n")
                .find("give either measured lives or 'lifetime_mean'"),
            std::string::npos);
}

TEST_F(ProviderFileTest, ReadsTheTableOfItsKindOnly) {
  const auto file =
      read("prices = \"prices.toml\"\n[local]\nspeed = 9\n[gce]\nproject = \"p\"\ndisk_gib = 50\n",
           "gce");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file.value().gce.project, "p");
  EXPECT_EQ(file.value().gce.machines.disk_gib, 50);
  EXPECT_EQ(file.value().speed, 1);
}

}  // namespace
}  // namespace orrery
