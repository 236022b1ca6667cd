#include "workload/outages/spot_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace orrery {
namespace {

Result<SpotTrace> parse(const std::string& text) {
  std::istringstream in(text);
  return parse_spot_trace("zone", in);
}

std::string problem(const std::string& text) {
  const auto trace = parse(text);
  return trace.ok() ? "" : trace.error().message;
}

SpotTrace zone(std::vector<std::int32_t> available) {
  return {.name = "zone", .gap = std::chrono::seconds(10), .available = std::move(available)};
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

TEST(SpotTrace, ThePublishedFormIsRead) {
  const auto trace = parse(R"({"metadata":{"gap_seconds":32,"x":[1]},"data":[0,1,4]})");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().gap, std::chrono::seconds(32));
  EXPECT_EQ(trace.value().available, (std::vector<std::int32_t>{0, 1, 4}));
  EXPECT_EQ(trace.value().end(), time_from_seconds(96));
}

TEST(SpotTrace, WrongFilesAreNamedWithTheirLine) {
  EXPECT_EQ(problem(""), "zone: is empty");
  EXPECT_NE(problem(R"({"data":[1]})").find("no 'gap_seconds'"), std::string::npos);
  EXPECT_NE(problem(R"({"metadata":{"gap_seconds":0},"data":[1]})").find("gap_seconds"),
            std::string::npos);
  EXPECT_NE(problem("{\"metadata\":{\"gap_seconds\":3},\n\"data\":[1,-1]}").find("zone:2: "),
            std::string::npos);
  EXPECT_NE(problem(R"({"metadata":{"gap_seconds":3},"data":[]})").find("no ticks"),
            std::string::npos);
  EXPECT_NE(problem(R"({"metadata":{"gap_seconds":3},"data":[0,0]})").find("no instance"),
            std::string::npos);
  const std::string whole = R"({"metadata":{"gap_seconds":32},"data":[0,1,4]})";
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    EXPECT_NE(problem(whole.substr(0, cut)).find("zone:1: "), std::string::npos) << cut;
  }
}

TEST(SpotTrace, AsManyNodesAreThereAsTheTraceHasOfItsMost) {
  const std::vector<SpotTrace> zones = {zone({4, 2, 0, 1, 4})};
  const auto outages = outages_on(zones, cluster_of(1, 8), 0, 1);
  ASSERT_TRUE(outages.ok());
  const int expected[] = {8, 4, 0, 2, 8, 8};
  for (int tick = 0; tick < 6; ++tick) {
    EXPECT_EQ(up_at(outages.value(), 10 * tick + 5, 0, 8), expected[tick]) << tick;
  }
}

TEST(SpotTrace, AfterTheEndAllNodesAreThere) {
  const std::vector<SpotTrace> zones = {zone({1, 0})};
  const auto outages = outages_on(zones, cluster_of(1, 3), 0, 1);
  ASSERT_TRUE(outages.ok());
  EXPECT_EQ(up_at(outages.value(), 15, 0, 3), 0);
  EXPECT_EQ(up_at(outages.value(), 20, 0, 3), 3);
}

TEST(SpotTrace, OnDemandNodesStayAndEachZoneFollowsItsTrace) {
  const std::vector<SpotTrace> zones = {zone({1, 0}), zone({0, 1})};
  const auto outages = outages_on(zones, cluster_of(3, 2), 2, 1);
  ASSERT_TRUE(outages.ok());
  EXPECT_EQ(up_at(outages.value(), 5, 0, 2), 2);
  EXPECT_EQ(up_at(outages.value(), 15, 0, 2), 2);
  EXPECT_EQ(up_at(outages.value(), 5, 2, 4), 2);
  EXPECT_EQ(up_at(outages.value(), 5, 4, 6), 0);
  EXPECT_EQ(up_at(outages.value(), 15, 2, 4), 0);
  EXPECT_EQ(up_at(outages.value(), 15, 4, 6), 2);
}

TEST(SpotTrace, WithoutASwitchForEachZoneNodesAreDealtInBlocks) {
  EXPECT_EQ(zones_of(cluster_of(1, 5), 0, 2), (std::vector<std::size_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(zones_of(cluster_of(2, 2), 0, 2), (std::vector<std::size_t>{0, 0, 1, 1}));
}

TEST(SpotTrace, TheSeedDecidesWhichNodesAreLost) {
  const std::vector<SpotTrace> zones = {zone({4, 2, 3, 1, 4, 0, 2})};
  const auto of = [&](std::uint64_t seed) {
    return outages_on(zones, cluster_of(1, 8), 0, seed).value();
  };
  EXPECT_EQ(of(1), of(1));
  EXPECT_NE(of(1), of(2));
}

TEST(SpotTrace, MoreZonesThanNodesIsAnError) {
  const std::vector<SpotTrace> zones = {zone({1}), zone({1})};
  EXPECT_FALSE(outages_on(zones, cluster_of(1, 2), 1, 1).ok());
}

TEST(SpotTrace, AllPublishedTracesAreRead) {
  const std::string path = std::string(ORRERY_SHARED) + "/data/spot";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.path().extension() != ".json") continue;
    const auto trace = read_spot_trace(entry.path().string());
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    ++files;
  }
  EXPECT_GE(files, 20);
}

}  // namespace
}  // namespace orrery
