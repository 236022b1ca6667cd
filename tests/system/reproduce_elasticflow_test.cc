#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "system/process.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

const std::filesystem::path kShared = ORRERY_SHARED;
const std::filesystem::path kData = kShared / "data" / "elasticflow";

class ReproduceElasticFlow : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kData)) GTEST_SKIP() << "the published traces are not here";
    std::filesystem::create_directory(folder_ / "traces");
    for (const char* name : {"cluster_specs", "throughputs_A100", "throughputs_T4"}) {
      std::filesystem::copy(kData / name, folder_ / name);
    }
  }

  void add_trace(const std::string& name) const {
    std::filesystem::copy_file(kData / "traces" / name,
                               std::filesystem::path(folder_.path()) / "traces" / name);
  }

  Finished reproduce(std::vector<std::string> more) const {
    more.insert(more.begin(), {"reproduce", "elasticflow", "--data", folder_.path()});
    return run_orrery(more);
  }

  TestFolder folder_;
};

const std::string kReference = (kShared / "reference" / "elasticflow.csv").string();
// These agree with the released code to its last digit.
const std::set<std::string> kExact = {"EDF", "EDF + admission", "ElasticFlow"};

TEST_F(ReproduceElasticFlow, TheReleasedCodesNumbersComeOut) {
  add_trace("elasticVpollux_e.csv");
  const Finished run =
      reproduce({"--figure", "8a", "--reference", kReference, "--json", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const Json rows = Json::parse(run.out)["rows"];
  ASSERT_EQ(rows.size(), 9U);
  int compared = 0;
  for (const Json& row : rows) {
    if (!kExact.contains(row["policy"])) continue;
    EXPECT_LT(std::abs(row["difference_pct"].get<double>()), 1e-3) << row;
    EXPECT_TRUE(row["ours_by_our_rules"].is_number()) << row;
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

TEST_F(ReproduceElasticFlow, AFigureSaysWhatIsMissing) {
  add_trace("200jobs_900lam_0.9.csv");
  const Finished run = reproduce({"--figure", "11", "--semantics", "elasticflow"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("Figure 11"), std::string::npos);
  EXPECT_EQ(run.out.find("Figure 10"), std::string::npos);
  EXPECT_EQ(run.out.find("our rules"), std::string::npos);
  EXPECT_NE(run.out.find("20 %    ElasticFlow"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("not there"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("200jobs_900lam_0.1.csv"), std::string::npos) << run.err;
}

TEST_F(ReproduceElasticFlow, TheReportHoldsTheFigureAndItsRuns) {
  add_trace("fig10_authors.csv");
  const std::string page = folder_.file("report.html");
  const Finished run = reproduce({"--figure", "10", "--report", page, "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string text = file_text(page);
  for (const char* part :
       {"<h2>Figure 10: share of the deadlines", "<h2>Figure 10: cluster efficiency over time",
        "<title>ElasticFlow, published: 1</title>", "10, 100 jobs, elasticflow rules"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(text.find("orrery:figures"), std::string::npos);
}

TEST_F(ReproduceElasticFlow, AMissingClusterIsRefusedWithWhatIsWanted) {
  add_trace("fig10_authors.csv");
  std::filesystem::remove(std::filesystem::path(folder_.path()) / "cluster_specs" / "n16g8.csv");
  const Finished run = reproduce({"--figure", "10"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("cluster_specs/n16g8.csv is not there"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace orrery
