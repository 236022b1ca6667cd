#include "workload/outages/fault_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

namespace orrery {
namespace {

Result<FaultTrace> parse(const std::string& text) {
  std::istringstream in(text);
  return parse_fault_trace("faults", in);
}

std::string problem(const std::string& text) {
  const auto trace = parse(text);
  return trace.ok() ? "" : trace.error().message;
}

Cluster cluster_of(int nodes) {
  Cluster cluster;
  for (int i = 0; i < nodes; ++i) {
    Node& node = cluster.nodes.emplace_back();
    node.name = fmt::format("n{}", i);
    node.gpus = 8;
  }
  return cluster;
}

std::string event(const char* node, double day, const char* type) {
  return fmt::format(R"({{"node_id":"{}","event_time":{},"event_type":"{}",)"
                     R"("fault_type":{{"Level":"L","Class":"GPU"}}}})",
                     node, day, type);
}

Time day(double days) { return time_from_seconds(days * 86400); }

TEST(FaultTable, NodesAreKnownByNameOrNumber) {
  const auto trace = parse("node,down_s,up_s,class\nn1,10,20.5,GPU\n0,5,,\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().faults[0].cause, "GPU");
  const auto outages = outages_on(trace.value(), cluster_of(2));
  ASSERT_TRUE(outages.ok()) << outages.error().message;
  EXPECT_EQ(outages.value()[0],
            (Outage{NodeId{1}, time_from_seconds(10), time_from_seconds(20.5)}));
  EXPECT_EQ(outages.value()[1], (Outage{NodeId{0}, time_from_seconds(5), kNever}));
}

TEST(FaultTable, WrongRowsAreNamedWithTheirLine) {
  EXPECT_EQ(problem(""), "faults: is empty");
  EXPECT_NE(problem("node,down_s,up_s\nn1,20,10\n").find("faults:2: "), std::string::npos);
  EXPECT_NE(problem("node,down_s,up_s\nn1,20,10\n").find("10 s is not after down_s, 20 s"),
            std::string::npos);
  EXPECT_EQ(problem("node,down_s,up_s\nn1,10,30\nn2,1,2\nn1,20,40\n"),
            "faults:4: node 'n1' is down already at 20 s by line 2; write one row for both");
  EXPECT_NE(problem("node,down_s,up_s\nn1,10,\nn1,20,40\n").find("by line 2"), std::string::npos);
  EXPECT_NE(problem("node,down_s\nn1,-3\n").find("faults:2: "), std::string::npos);
  EXPECT_NE(problem("node,down_s\nn1,nan\n").find("faults:2: "), std::string::npos);
  EXPECT_NE(problem("node,up_s\nn1,3\n").find("down_s"), std::string::npos);
}

TEST(FaultTable, ANodeMayBeLostAgainInTheInstantItIsBack) {
  EXPECT_EQ(problem("node,down_s,up_s\nn1,10,20\nn1,20,30\n"), "");
}

TEST(FaultTable, ANodeThatTheClusterLacksIsAnError) {
  const auto trace = parse("node,down_s\nn0,1\n7,2\n");
  ASSERT_TRUE(trace.ok());
  const auto outages = outages_on(trace.value(), cluster_of(4));
  ASSERT_FALSE(outages.ok());
  EXPECT_EQ(
      outages.error().message,
      "faults:3: the cluster has no node '7'; write the name of one, or a number from 0 to 3");
}

TEST(FaultEvents, AServerIsDownUntilAllItsFaultsHaveEnded) {
  const auto trace =
      parse("[" + event("b", 1, "fault_start") + ",\n" + event("b", 2, "fault_start") + ",\n" +
            event("b", 3, "fault_end") + ",\n" + event("a", 4, "fault_start") + "," +
            event("b", 5, "fault_end") + "]");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().overlapping, 1);
  EXPECT_EQ(trace.value().servers, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(trace.value().faults.size(), 2U);
  EXPECT_EQ(trace.value().faults[0].from, day(1));
  EXPECT_EQ(trace.value().faults[0].to, day(5));
  EXPECT_EQ(trace.value().faults[0].server, 1U);
  EXPECT_EQ(trace.value().faults[0].cause, "GPU");
  EXPECT_EQ(trace.value().faults[1].to, kNever) << "it is not repaired in the record";
  EXPECT_EQ(trace.value().end, day(5));
  EXPECT_EQ(trace.value().fleet, 400);
}

TEST(FaultEvents, ServersAreSpreadOverTheFleetAndRepeated) {
  const auto trace =
      parse("[" + event("a", 1, "fault_start") + "," + event("b", 1, "fault_start") + "," +
            event("a", 2, "fault_end") + "," + event("b", 3, "fault_end") + "]");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const auto numbers = [&](int nodes, std::int64_t fleet) {
    std::set<int> out;
    const auto outages = outages_on(trace.value(), cluster_of(nodes), fleet);
    EXPECT_TRUE(outages.ok());
    for (const Outage& outage : outages.value()) out.insert(static_cast<int>(outage.node));
    return out;
  };
  EXPECT_EQ(numbers(400, 0), (std::set<int>{0, 200}));
  EXPECT_EQ(numbers(10, 0), (std::set<int>{0}));
  EXPECT_EQ(numbers(10, 4), (std::set<int>{0, 2, 4, 6, 8}));
  EXPECT_FALSE(outages_on(trace.value(), cluster_of(4), 1).ok());
}

TEST(FaultEvents, WrongEventsAreNamedWithTheirLine) {
  EXPECT_NE(problem("[\n" + event("a", 1, "fault_end") + "]").find("faults:2: "),
            std::string::npos);
  EXPECT_NE(problem("[" + event("a", 1, "fault_end") + "]").find("that has not begun"),
            std::string::npos);
  EXPECT_NE(problem("[" + event("a", 2, "fault_start") + "," + event("b", 1, "fault_start") + "]")
                .find("not in order of time"),
            std::string::npos);
  EXPECT_NE(problem("[" + event("a", -1, "fault_start") + "]").find("'event_time'"),
            std::string::npos);
  EXPECT_NE(problem("[" + event("a", 1, "begins") + "]").find("fault_start or fault_end"),
            std::string::npos);
  EXPECT_NE(problem("[{}]").find("no 'node_id'"), std::string::npos);
  EXPECT_NE(problem("{}").find("is not a list"), std::string::npos);
  const std::string whole = "[" + event("a", 1, "fault_start") + "]";
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    EXPECT_NE(problem(whole.substr(0, cut)).find("faults:1: "), std::string::npos) << cut;
  }
}

TEST(FaultEvents, ThePublishedRecordHas584FaultsOn231Servers) {
  const std::string path = std::string(ORRERY_SHARED) + "/data/faults/fault_trace.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto trace = read_fault_trace(path);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().servers.size(), 231U);
  EXPECT_EQ(trace.value().overlapping, 2);
  EXPECT_EQ(trace.value().faults.size() + 2, 584U);
  EXPECT_NEAR(seconds(trace.value().end) / 86400, 348.9798, 1e-6);
  double down_days = 0;
  for (const FaultTrace::Fault& fault : trace.value().faults) {
    ASSERT_NE(fault.to, kNever);
    down_days += seconds(fault.to - fault.from) / 86400;
  }
  EXPECT_NEAR(down_days, 3231.3223, 1e-3);
}

}  // namespace
}  // namespace orrery
