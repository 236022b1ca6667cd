#include "workload/outages/spot_outages.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace orrery {
namespace {

ZoneCapacity zone(std::vector<std::int32_t> machines) {
  return {.tick = std::chrono::seconds(10), .machines = std::move(machines)};
}

Cluster cluster_of(int switches, int nodes_each) {
  Cluster cluster;
  for (int i = 0; i < switches * nodes_each; ++i) {
    Node& node = cluster.nodes.emplace_back();
    node.gpus = 1;
    node.switch_index = i / nodes_each;
  }
  return cluster;
}

// How many nodes of [first, end) are there at a time.
int up_at(const std::vector<Outage>& outages, double at_s, int first, int end) {
  const Time at = time_from_seconds(at_s);
  return end - first - static_cast<int>(std::ranges::count_if(outages, [&](const Outage& outage) {
           const int node = static_cast<int>(outage.node);
           return node >= first && node < end && outage.from <= at && at < outage.to;
         }));
}

TEST(SpotOutages, AsManyNodesAreThereAsTheTraceHasOfItsMost) {
  const std::vector<ZoneCapacity> zones = {zone({4, 2, 0, 1, 4})};
  const auto outages = spot_outages(zones, cluster_of(1, 8), 0, 1);
  ASSERT_TRUE(outages.ok());
  const int expected[] = {8, 4, 0, 2, 8, 8};
  for (int tick = 0; tick < 6; ++tick) {
    EXPECT_EQ(up_at(outages.value(), 10 * tick + 5, 0, 8), expected[tick]) << tick;
  }
}

TEST(SpotOutages, AfterTheEndAllNodesAreThere) {
  const std::vector<ZoneCapacity> zones = {zone({1, 0})};
  const auto outages = spot_outages(zones, cluster_of(1, 3), 0, 1);
  ASSERT_TRUE(outages.ok());
  EXPECT_EQ(up_at(outages.value(), 15, 0, 3), 0);
  EXPECT_EQ(up_at(outages.value(), 20, 0, 3), 3);
}

TEST(SpotOutages, OnDemandNodesStayAndEachZoneFollowsItsTrace) {
  const std::vector<ZoneCapacity> zones = {zone({1, 0}), zone({0, 1})};
  const auto outages = spot_outages(zones, cluster_of(3, 2), 2, 1);
  ASSERT_TRUE(outages.ok());
  EXPECT_EQ(up_at(outages.value(), 5, 0, 2), 2);
  EXPECT_EQ(up_at(outages.value(), 15, 0, 2), 2);
  EXPECT_EQ(up_at(outages.value(), 5, 2, 4), 2);
  EXPECT_EQ(up_at(outages.value(), 5, 4, 6), 0);
  EXPECT_EQ(up_at(outages.value(), 15, 2, 4), 0);
  EXPECT_EQ(up_at(outages.value(), 15, 4, 6), 2);
}

TEST(SpotOutages, WithoutASwitchForEachZoneNodesAreDealtInBlocks) {
  EXPECT_EQ(zones_of(cluster_of(1, 5), 0, 2), (std::vector<std::size_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(zones_of(cluster_of(2, 2), 0, 2), (std::vector<std::size_t>{0, 0, 1, 1}));
}

TEST(SpotOutages, TheSeedDecidesWhichNodesAreLost) {
  const std::vector<ZoneCapacity> zones = {zone({4, 2, 3, 1, 4, 0, 2})};
  const auto of = [&](std::uint64_t seed) {
    return spot_outages(zones, cluster_of(1, 8), 0, seed).value();
  };
  EXPECT_EQ(of(1), of(1));
  EXPECT_NE(of(1), of(2));
}

TEST(SpotOutages, MoreZonesThanNodesIsAnError) {
  const std::vector<ZoneCapacity> zones = {zone({1}), zone({1})};
  EXPECT_FALSE(spot_outages(zones, cluster_of(1, 2), 1, 1).ok());
}

TEST(SpotOutages, AZoneThatNeverHasAMachineIsAnError) {
  const std::vector<ZoneCapacity> zones = {zone({0, 0})};
  EXPECT_FALSE(spot_outages(zones, cluster_of(1, 2), 0, 1).ok());
}

TEST(SpotOutages, MoreThanAHundredYearsIsAnError) {
  std::vector<ZoneCapacity> zones = {zone(std::vector<std::int32_t>(1000, 1))};
  zones[0].tick = std::chrono::hours(24 * 365);
  EXPECT_FALSE(spot_outages(zones, cluster_of(1, 2), 0, 1).ok());
}

}  // namespace
}  // namespace orrery
