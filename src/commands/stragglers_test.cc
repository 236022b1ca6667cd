#include "commands/stragglers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/test_folder.h"
#include "report/event_log/byte_stream.h"

namespace orrery {
namespace {

using nlohmann::json;

const std::string kData = std::string(ORRERY_SHARED) + "/data/stragglers/";

json published(const std::string& name) { return json::parse(read_file(kData + name).value()); }

std::string printed(const StragglersArguments& arguments) {
  testing::internal::CaptureStdout();
  const Status done = stragglers_command(arguments);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(done.ok()) << done.error().message;
  return text;
}

std::string error_of(const StragglersArguments& arguments) {
  const Status done = stragglers_command(arguments);
  return done.ok() ? "" : done.error().message;
}

void expect_alike(const json& ours, const json& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (const auto& [name, value] : theirs.items()) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_NEAR(ours[name].get<double>(), value.get<double>(), 1e-5) << name;
  }
}

class PublishedStragglers : public testing::TestWithParam<std::string> {};

TEST_P(PublishedStragglers, EveryFigureIsThePublishedOne) {
  if (!std::filesystem::exists(kData)) GTEST_SKIP() << kData << " is not there";
  const std::string name = GetParam();
  const json ours = json::parse(printed({.trace = kData + "trace-" + name + ".csv.zst",
                                         .meta = kData + "meta-" + name + ".yaml",
                                         .json = true}));
  const json theirs = published("result-" + name + ".json");
  EXPECT_NEAR(ours["slowdown"].get<double>(), theirs["blocking_slowdown"].get<double>(), 1e-5);
  EXPECT_NEAR(ours["launch_slowdown"].get<double>(), theirs["launch_slowdown"].get<double>(), 1e-5);
  expect_alike(ours["by_worker"], theirs["blocking_decompose_by_dp_rank"]);
  expect_alike(ours["by_stage"], theirs["blocking_decompose_by_stage"]);
  expect_alike(ours["by_operation"], theirs["blocking_decompose_by_optype"]);
  for (const std::string kind : {"w", "s"}) {
    EXPECT_NEAR(ours["M" + kind].get<double>(),
                published("m" + kind + "-" + name + ".json")["M" + kind].get<double>(), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, PublishedStragglers, testing::Values("AR", "ST"),
                         [](const auto& each) { return each.param; });

const std::string kHeader =
    "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n";

// Two workers; the second computes three times as long.
std::string small_trace() {
  return kHeader +
         "0,0,0,1,compute,10,1,0,-1,-1,-1\n0,0,0,1,gradient-all-reduce,11,2.5,0,-1,-1,-1\n"
         "1,0,1,1,compute,10,3,0,-1,-1,-1\n1,0,1,1,gradient-all-reduce,13,0.5,0,-1,-1,-1\n";
}

TEST(Stragglers, TheVerdictNamesTheWorkerAndTheGain) {
  const TestFolder folder;
  const std::string text = printed({.trace = folder.write("t.csv", small_trace())});
  EXPECT_TRUE(
      text.starts_with("Worker 1 slows the training down 1.40 times. Without its slowness a "
                       "step takes 2.50 s instead of 3.50 s: 100 % of what all slowness "
                       "costs."))
      << text;
}

TEST(Stragglers, ThePackedTraceGivesTheSame) {
  const TestFolder folder;
  const std::string plain = folder.write("t.csv", small_trace()), packed = folder.file("t.csv.zst");
  auto writer = ByteWriter::open(packed);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer.value()->write(small_trace()).ok());
  ASSERT_TRUE(writer.value()->finish().ok());
  EXPECT_EQ(printed({.trace = packed}), printed({.trace = plain}));
  const std::string whole = read_file(packed).value();
  EXPECT_EQ(error_of({.trace = folder.write("t.csv.zst", whole.substr(0, whole.size() - 9))}),
            packed +
                ": the compressed file ends in the middle: its writer was stopped, or the "
                "copy is not complete");
}

TEST(Stragglers, WhatHasNoMeaningIsNull) {
  const TestFolder folder;
  const json figures =
      json::parse(printed({.trace = folder.write("t.csv", small_trace()), .json = true}));
  EXPECT_TRUE(figures["Ms"].is_null());
  EXPECT_DOUBLE_EQ(figures["Mw"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(figures["by_worker"]["1"].get<double>(), 1.4);
}

TEST(Stragglers, PagesAndTimelinesAreWritten) {
  const TestFolder folder;
  printed({.trace = folder.write("t.csv", small_trace()),
           .report = folder.file("r.html"),
           .perfetto = folder.file("p.json")});
  const std::string page = read_file(folder.file("r.html")).value();
  EXPECT_NE(page.find("Worker 1 slows the training down"), std::string::npos);
  EXPECT_NE(page.find("worker 1, step 1: 1.4<"), std::string::npos);
  const json timeline = json::parse(read_file(folder.file("p.json")).value());
  EXPECT_GT(timeline["traceEvents"].size(), 8u);
}

TEST(Stragglers, FaultsNameTheFile) {
  const TestFolder folder;
  EXPECT_EQ(
      error_of({.trace = folder.write("t.csv", kHeader + "0,0,0,1,comp\n")}),
      folder.file("t.csv") + ":2: has 5 fields where the header has 11; is the file cut off here?");
  EXPECT_EQ(error_of({.trace = folder.write("t.csv", small_trace()),
                      .meta = folder.write("m.yaml", "dp_size: 3\npp_size: 1\n")}),
            folder.file("t.csv") + ": holds no operation of dp_rank 2, but dp_size is 3");
  EXPECT_NE(error_of({.trace = folder.file("none.csv")}).find("No such file"), std::string::npos);
  const std::string trace = folder.write("t.csv", small_trace());
  EXPECT_NE(error_of({.trace = trace, .report = trace}), "");
  EXPECT_EQ(read_file(trace).value(), small_trace());
}

}  // namespace
}  // namespace orrery
