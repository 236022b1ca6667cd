#include "experiments/figures/synergy_reference.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/test_folder.h"

namespace orrery::synergy {
namespace {

const std::string kHeader =
    "system,policy,variant,load_jobs_per_h,gpus,split,window,cluster,trace,status,avg_jct_h,"
    "p99_jct_h,makespan_h,gpu_alloc_pct,cpu_alloc_pct,mem_alloc_pct\n";

class SynergyReference : public testing::Test {
 protected:
  Result<ReferenceTable> read(const std::string& text) {
    std::ofstream(path_) << text;
    return ReferenceTable::read(path_);
  }

  const TestFolder folder_;
  const std::string path_ = folder_.file("reference.csv");
};

TEST_F(SynergyReference, FindsARowByWhatWasRun) {
  const auto table = read(kHeader +
                          "synergy,FIFO,tune,4.0,multi,20/70/10,300-500,16x8,synthetic,ok,17.0875,"
                          "131.2,,76.7,50,\n"
                          "synergy,LAS,tune,9.0,single,,1-2,16x8,synthetic,cut,1,1,1,1,1,1\n"
                          "blox,Fifo,AcceptAll,8,single,,1-2,32x4,synthetic,ok,1,1,1,1,1,1\n");
  ASSERT_TRUE(table.ok()) << table.error().message;
  const std::string setting = "4.0;multi;20/70/10;300-500;16x8;synthetic";
  const auto* entry = table.value().find(setting, "fifo+tune", Metric::AvgJct);
  ASSERT_NE(entry, nullptr);
  EXPECT_DOUBLE_EQ(entry->value, 17.0875);
  EXPECT_NEAR(entry->rounding, 0.00005, 1e-9);
  EXPECT_EQ(table.value().find(setting, "fifo+tune", Metric::Makespan), nullptr);
  EXPECT_EQ(table.value().find(setting, "las+tune", Metric::AvgJct), nullptr);
  EXPECT_EQ(table.value().find("9.0;single;;1-2;16x8;synthetic", "las+tune", Metric::AvgJct),
            nullptr)
      << "that run was cut short";
}

TEST_F(SynergyReference, BadTablesAreNamedByFileAndLine) {
  const auto complaint = [&](const std::string& text) {
    const auto table = read(text);
    return table.ok() ? "" : table.error().message.substr(path_.size());
  };
  EXPECT_NE(complaint("system,policy\n").find(":1: the header has no column 'variant'"),
            std::string::npos);
  EXPECT_NE(complaint(kHeader + "synergy,FIFO\n").find(":2: has 2 fields"), std::string::npos);
  EXPECT_NE(
      complaint(kHeader + "synergy,FIFO,tune,,,,,,,ok,x,,,,,\n").find(":2: column 'avg_jct_h'"),
      std::string::npos);
  EXPECT_NE(complaint("").find("is empty"), std::string::npos);
}

}  // namespace
}  // namespace orrery::synergy
