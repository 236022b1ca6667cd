#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "system/process.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

const std::filesystem::path kData = std::filesystem::path(ORRERY_SHARED) / "data" / "muri";

class Reproduce : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kData)) GTEST_SKIP() << "the published traces are not here";
    for (const char* name : {"trace3.csv", "job_type_2.csv"}) {
      std::filesystem::copy_file(kData / name, folder_ / name);
    }
  }

  Finished reproduce(std::vector<std::string> more) const {
    more.insert(more.begin(), {"reproduce", "muri", "--data", folder_.path()});
    return run_orrery(more);
  }

  TestFolder folder_;
};

TEST_F(Reproduce, TheReleasedCodesNumbersComeOut) {
  const Finished run = reproduce({"--json", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const Json rows = Json::parse(run.out)["rows"];
  EXPECT_EQ(rows.size(), 3U * 24 + 3 * 32 + 2 * 12 + 2 * 16 + 16);
  const std::set<std::string> exact = {"SRTF", "SRSF", "Tiresias", "AntMan"};
  int compared = 0;
  for (const Json& row : rows) {
    const bool here =
        row["trace"] == "trace3" || row["trace"] == "job_type_2" || row["trace"] == "job_type_4";
    EXPECT_EQ(row["ours"].is_number(), here) << row;
    if (!here) {
      EXPECT_NE(row["note"].get<std::string>().find(".csv in "), std::string::npos) << row;
      continue;
    }
    const double difference = std::abs(row["difference_pct"].get<double>());
    if (exact.contains(row["policy"])) {
      EXPECT_LT(difference, 1e-4) << row;
      ++compared;
    } else {
      // Other matchings of the same weight are as good, and give other schedules.
      EXPECT_LT(difference, 15) << row;
    }
  }
  EXPECT_EQ(compared, 4 * 3 + 2 + 2);
}

TEST_F(Reproduce, OneFigureSaysWhatIsMissing) {
  const Finished run = reproduce({"--figure", "13"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("Figure 13"), std::string::npos);
  EXPECT_EQ(run.out.find("Figure 9"), std::string::npos);
  EXPECT_NE(run.out.find("job_type_1.csv, job_type_3.csv"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(folder_.path()), std::string::npos);
}

TEST_F(Reproduce, ABadTraceIsRefusedWithItsLine) {
  const std::string path = folder_.write("job_type_1.csv", "job_id,num_gpu\n0,1\n");
  const Finished run = reproduce({"--figure", "13"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find(path + ":1: "), std::string::npos) << run.err;
}

}  // namespace
}  // namespace orrery
