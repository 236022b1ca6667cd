#include "cloud/market/spot_trace.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using std::chrono::seconds;

SpotTrace parsed(const std::string& text) {
  auto trace = parse_spot_trace(text, "zones/west.json");
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return trace.ok() ? std::move(trace).value() : SpotTrace{};
}

std::string refused(const std::string& text) {
  auto trace = parse_spot_trace(text, "west.json");
  EXPECT_FALSE(trace.ok()) << text;
  return trace.ok() ? "" : trace.error().message;
}

TEST(SpotTrace, CountsAndTheTickAreReadAndTheFileGivesTheName) {
  const SpotTrace trace = parsed(R"({"metadata": {"gap_seconds": 300}, "data": [0, 1, 16]})");
  EXPECT_EQ(trace.name, "west");
  EXPECT_EQ(trace.tick, seconds(300));
  EXPECT_EQ(trace.capacity, (std::vector<std::int32_t>{0, 1, 16}));
}

TEST(SpotTrace, FieldsBesideTheTwoAreSkippedAtAnyDepth) {
  const SpotTrace trace = parsed(
      R"({"prices": [[0.9, {"data": [7]}], null], "data": [1], "note": {"gap_seconds": 5},
          "metadata": {"region": {"gap_seconds": 6}, "gap_seconds": 32.5}})");
  EXPECT_EQ(trace.tick, std::chrono::milliseconds(32500));
  EXPECT_EQ(trace.capacity, (std::vector<std::int32_t>{1}));
}

TEST(SpotTrace, AWrongCountIsRefusedWithItsLineAndPlace) {
  EXPECT_EQ(refused("{\"metadata\": {\"gap_seconds\": 300},\n\"data\": [\n1,\n-3\n]}"),
            "west.json:4: data[1] is -3; write a whole number, 0 or more");
  EXPECT_EQ(refused("{\"metadata\": {\"gap_seconds\": 300}, \"data\": [1, 0.5]}"),
            "west.json:1: data[1] is 0.5; write a whole number, 0 or more");
  EXPECT_EQ(refused("{\"data\": [1, 1e300]}"),
            "west.json:1: data[1] is 1e+300; write a whole number, 0 or more");
  EXPECT_EQ(refused("{\"data\": [null]}"),
            "west.json:1: data[0] is null; write a whole number, 0 or more");
  EXPECT_EQ(refused("{\"data\": [[1]]}"),
            "west.json:1: data[0] is a list; write a whole number, 0 or more");
}

TEST(SpotTrace, AWrongTickIsRefused) {
  EXPECT_EQ(refused(R"({"metadata": {"gap_seconds": 0}, "data": [1]})"),
            "west.json:1: 'gap_seconds' is 0; write seconds between 0.001 and 604800");
  EXPECT_EQ(refused(R"({"metadata": {"gap_seconds": "300"}, "data": [1]})"),
            "west.json:1: 'gap_seconds' is a string; write seconds, above 0");
  EXPECT_EQ(refused(R"({"data": [1]})"),
            "west.json:1: has no 'gap_seconds' in 'metadata'; write the seconds of a tick");
}

TEST(SpotTrace, WhatIsNotATraceIsRefusedWithWhatToWrite) {
  EXPECT_NE(refused("").find("is not valid JSON"), std::string::npos);
  EXPECT_NE(refused("{\n\"data\": [NaN]}").find("west.json:2: is not valid JSON"),
            std::string::npos);
  EXPECT_NE(refused("{\"data\": [1").find("is not valid JSON"), std::string::npos);
  EXPECT_EQ(refused("[1]"), "west.json:1: is a list; write an object with 'metadata' and 'data'");
  EXPECT_EQ(refused("7"), "west.json:1: is a number; write an object with 'metadata' and 'data'");
  EXPECT_EQ(refused(R"({"metadata": {"gap_seconds": 1}})"),
            "west.json:1: has no 'data'; write a list with one count for each tick");
  EXPECT_EQ(refused(R"({"metadata": {"gap_seconds": 1}, "data": []})"),
            "west.json:1: 'data' is an empty list; write one count for each tick");
  EXPECT_EQ(refused(R"({"metadata": {"gap_seconds": 1}, "data": 4})"),
            "west.json:1: 'data' is a number; write a list");
  EXPECT_EQ(refused(R"({"data": [1], "data": [0]})"),
            "west.json:1: 'data' comes twice; keep one list");
}

TEST(SpotTrace, AMissingFileIsNamed) {
  const auto trace = read_spot_trace("/nowhere/west.json");
  ASSERT_FALSE(trace.ok());
  EXPECT_NE(trace.error().message.find("/nowhere/west.json"), std::string::npos);
}

}  // namespace
}  // namespace orrery
