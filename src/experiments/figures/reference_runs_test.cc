#include "experiments/figures/reference_runs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/test_folder.h"

namespace orrery {
namespace {

class ReferenceFile : public testing::Test {
 protected:
  Result<ReferenceRuns> read(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return ReferenceRuns::read(path_);
  }

  const TestFolder folder_;
  const std::string path_ = folder_.file("reference.csv");
};

TEST_F(ReferenceFile, RowsAreFoundByTraceClusterAndSchedule) {
  const auto runs = read(
      "schedule,trace,other,cluster,ddl_ratio,avg_jct_s,be_avg_jct_s,rc,variant\n"
      "edf,t,x,n8g8,0.25,100.5,,0,reference\n"
      "edf,t,x,n4g8,0.5,,7,0,reference\n");
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  const ReferenceRuns::Run* run = runs.value().find("t", "n8g8", "edf");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->deadline_ratio, 0.25);
  EXPECT_EQ(run->avg_jct_s, 100.5);
  EXPECT_FALSE(run->best_effort_avg_jct_s);
  EXPECT_FALSE(run->cluster_efficiency);
  EXPECT_EQ(runs.value().find("t", "n4g8", "edf")->best_effort_avg_jct_s, 7);
  EXPECT_EQ(runs.value().find("t", "n8g8", "ef"), nullptr);
}

TEST_F(ReferenceFile, RunsThatWereCutShortOrChangedArePassedOver) {
  const auto runs = read(
      "trace,cluster,schedule,rc,variant,ddl_ratio\n"
      "t,c,a,124,reference,0.1\n"
      "t,c,b,0,experiment,0.2\n"
      "t,c,a,0,reference,0.3\n");
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  EXPECT_EQ(runs.value().find("t", "c", "a")->deadline_ratio, 0.3);
  EXPECT_EQ(runs.value().find("t", "c", "b"), nullptr);
}

TEST_F(ReferenceFile, ErrorsNameTheLine) {
  const auto lacks = read("trace,cluster,ddl_ratio\nt,c,1\n");
  ASSERT_FALSE(lacks.ok());
  EXPECT_NE(lacks.error().message.find(":1: the header has no column 'schedule'"),
            std::string::npos);
  const auto number = read("trace,cluster,schedule,ddl_ratio\nt,c,s,many\n");
  ASSERT_FALSE(number.ok());
  EXPECT_NE(number.error().message.find(":2: column 'ddl_ratio': "), std::string::npos);
  const auto fields = read("trace,cluster,schedule,ddl_ratio\nt,c,s\n");
  ASSERT_FALSE(fields.ok());
  EXPECT_NE(fields.error().message.find(":2: has 3 fields, but the header names 4 columns"),
            std::string::npos);
  EXPECT_FALSE(read("").ok());
  EXPECT_FALSE(ReferenceRuns::read(path_ + ".none").ok());
}

}  // namespace
}  // namespace orrery
