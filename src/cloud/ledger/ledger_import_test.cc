#include "cloud/ledger/ledger_import.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/test_folder.h"
#include "cloud/ledger/job_costs.h"
#include "cloud/ledger/test_ledger.h"

namespace orrery {
namespace {

constexpr const char* kTable =
    "CREATE TABLE cluster_status (host_name TEXT primary key, ip TEXT, region TEXT, job_name TEXT, "
    "status TEXT, creation_time TEXT, termination_time TEXT, role TEXT";

class Published {
 public:
  explicit Published(const std::string& rows, bool has_reasons = true) {
    auto opened = Database::open(path_, "");
    EXPECT_TRUE(opened.ok());
    Database database = std::move(opened).value();
    const Status made =
        database.run(kTable + std::string(has_reasons ? ", revoked TEXT);" : ");") +
                     (rows.empty() ? "" : "INSERT INTO cluster_status VALUES" + rows));
    EXPECT_TRUE(made.ok()) << made.error().message;
  }

  Result<ImportedRows> import(const PriceList* prices = nullptr) {
    return import_published(path_, {.gpu = "K80", .prices = prices}, ledger_);
  }
  std::string fault() {
    auto imported = import();
    EXPECT_FALSE(imported.ok());
    EXPECT_TRUE(ledger_.servers().value().empty());
    const std::string message = imported.ok() ? "" : imported.error().message;
    return message.substr(std::min(message.size(), path_.size() + 2));
  }
  CostLedger& ledger() { return ledger_; }
  LedgerServer row(const std::string& name) {
    for (const LedgerServer& row : ledger_.servers().value()) {
      if (row.server.spec.name == name) return row;
    }
    ADD_FAILURE() << name;
    return {};
  }

 private:
  TestFolder folder_;
  std::string path_ = folder_ / "old.db";
  CostLedger ledger_ = opened_ledger(folder_ / "ledger.db");
};

constexpr const char* kRows =
    "('j-run1-master','1.2.3.4','us-west1-b','j-run1','TERMINATED','2019-02-16 01:10:23.998327',"
    "'2019-02-16 01:26:56.532','master','Manually stopped due to revoked master'),"
    "('j-run1-worker-0','1.2.3.5','us-west1-b','j-run1','TERMINATED','2019-02-16 01:10:24',"
    "'2019-02-16 01:20:24','workers','Revoked'),"
    "('j-run1-worker-1','1.2.3.6','us-west1-b','j-run1','TERMINATED','2019-02-16 01:10:24',"
    "'2019-02-16 01:26:58','workers','Manually stopped due to revoked master'),"
    "('j-run2-master','1.2.3.7','us-west1-b','j-run2','TERMINATED','2019-02-17 01:10:24',"
    "'2019-02-17 02:26:58','master','Job Completed')";

TEST(LedgerImport, TextsBecomeEndReasons) {
  Published old(kRows);
  const auto imported = old.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported.value().jobs, 2U);
  EXPECT_EQ(imported.value().servers, 4U);
  EXPECT_EQ(old.row("j-run1-master").server.end_reason, EndReason::Revoked);
  EXPECT_EQ(old.row("j-run1-worker-0").server.end_reason, EndReason::Revoked);
  EXPECT_EQ(old.row("j-run1-worker-1").server.end_reason, EndReason::ClusterStop);
  EXPECT_EQ(old.row("j-run2-master").server.end_reason, EndReason::Completed);
  EXPECT_EQ(old.row("j-run1-worker-1").server.spec.index, 2);
  EXPECT_FALSE(old.row("j-run1-worker-0").usd_per_s.has_value());
  const auto jobs = old.ledger().jobs().value();
  EXPECT_EQ(jobs.at(0).outcome, "chief-revoked");
  EXPECT_EQ(jobs.at(1).outcome, "completed");
}

TEST(LedgerImport, APriceFileGivesTheCosts) {
  const auto prices = read_prices(std::string(ORRERY_SOURCE) + "/data/prices/gce-2019-02.toml");
  ASSERT_TRUE(prices.ok());
  Published old(kRows);
  ASSERT_TRUE(old.import(&prices.value()).ok());
  const LedgerServer row = old.row("j-run1-worker-0");
  EXPECT_NEAR(row.usd, 600 * 0.000071, 1e-12);
  EXPECT_NEAR(row.on_demand_usd_per_s.value_or(0), 0.00020083, 1e-15);
}

TEST(LedgerImport, TheColumnRevokedMayBeMissingAndRowsMayHaveNoEnd) {
  Published old(
      "('d-master','1.2.3.4','us-east1-c','d','RUNNING','2019-02-15 "
      "01:32:44.748268',NULL,'master'),"
      "('d-worker-0','1.2.3.4','us-east1-c','d','TERMINATED','2019-02-15 01:32:44.748268',"
      "'2019-02-15 02:32:44.748268','workers')",
      false);
  const auto imported = old.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported.value().without_end, 1U);
  EXPECT_EQ(old.row("d-worker-0").server.end_reason, EndReason::Completed);
  EXPECT_EQ(old.row("d-master").server.state, ServerState::Running);
}

TEST(LedgerImport, FaultsNameTheRow) {
  const auto with = [](const std::string& row) { return Published("(" + row + ")").fault(); };
  EXPECT_EQ(Published("").fault(), "the table cluster_status is empty");
  EXPECT_EQ(
      with("'a','','z','j','TERMINATED','yesterday','2019-02-15 02:32:44','master','Revoked'"),
      "row 1 of cluster_status: creation_time 'yesterday' is no instant");
  EXPECT_EQ(
      with("'a','','z','j','TERMINATED','2019-02-15 02:32:44','2019-02-15 02:32:43','master',"
           "'Revoked'"),
      "row 1 of cluster_status: termination_time '2019-02-15 02:32:43' is no instant after the "
      "creation");
  EXPECT_EQ(
      with("'a','','z','j','TERMINATED','2019-02-15 02:32:44','2019-02-15 02:32:45','ps','x'"),
      "row 1 of cluster_status: role 'ps'; it is master or workers");
  EXPECT_EQ(with("'a','','z','j','GONE','2019-02-15 02:32:44','2019-02-15 02:32:45','master','x'"),
            "row 1 of cluster_status: status 'GONE'; it is RUNNING or TERMINATED");
  EXPECT_EQ(with("'a','','z','j','TERMINATED','2019-02-15 02:32:44','2019-02-15 02:32:45','master',"
                 "'x'"),
            "row 1 of cluster_status: revoked 'x' is none of the published texts");
  EXPECT_EQ(
      with("NULL,'','z','j','TERMINATED','2019-02-15 02:32:44','2019-02-15 02:32:45','master',"
           "'x'"),
      "row 1 of cluster_status: has no host_name or job_name");
}

TEST(LedgerImport, AZoneWithoutAPriceIsNamedAndNothingIsImported) {
  const auto prices =
      parse_prices("p.toml",
                   "date=\"2019-02-15\"\n[[offer]]\nzones=[\"a\"]\ngpu=\"K80\"\nclass=\"spot\"\n"
                   "usd_per_hour=1\n");
  ASSERT_TRUE(prices.ok());
  Published old(kRows);
  const auto imported = old.import(&prices.value());
  ASSERT_FALSE(imported.ok());
  EXPECT_NE(imported.error().message.find("there is no zone 'us-west1-b'; the zones are a"),
            std::string::npos);
  EXPECT_TRUE(old.ledger().servers().value().empty());
}

// The nine published databases: rows, texts of the view, and revocations as spec and reference
// count them.
TEST(LedgerImport, ThePublishedDatabasesComeBackThroughTheView) {
  const std::string data = std::string(ORRERY_SHARED) + "/data/transient/training";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << data << " is not there";
  const std::map<std::string, std::pair<std::size_t, int>> expected = {
      {"k80_on_demand/k80-demand/k80_ondemand_cluster_status.db", {10, 0}},
      {"k80_on_demand/2-demand/2_ondemand_cluster_status.db", {20, 0}},
      {"k80_on_demand/4-demand/4_ondemand_cluster_status.db", {40, 0}},
      {"k80_on_demand/8-demand/8_ondemand_cluster_status.db", {80, 0}},
      {"k80_spot/2-spot/2_spot_cluster_status.db", {64, 7}},
      {"k80_spot/4-spot/4_spot_cluster_status.db", {128, 13}},
      {"k80_spot/8-spot/8_spot_cluster_status.db", {256, 8}},
      {"p100_v100_spot/p100/p100.db", {35, 3}},
      {"p100_v100_spot/v100/v100.db", {43, 19}},
  };
  for (const auto& [name, counts] : expected) {
    const TestFolder folder;
    const std::string path = folder / "ledger.db";
    CostLedger ledger = opened_ledger(path);
    const auto imported = import_published(data + "/" + name, {.gpu = "K80"}, ledger);
    ASSERT_TRUE(imported.ok()) << imported.error().message;
    EXPECT_EQ(imported.value().servers, counts.first) << name;
    int revoked = 0;
    for (const JobCost& cost : job_costs(ledger.jobs().value(), ledger.servers().value(), Time{})) {
      revoked += cost.revoked;
    }
    EXPECT_EQ(revoked, counts.second) << name;
    auto opened = Database::open_to_follow(path);
    ASSERT_TRUE(opened.ok());
    Database raw = std::move(opened).value();
    ASSERT_TRUE(raw.run("ATTACH '" + data + "/" + name + "' AS old").ok());
    const bool has_reasons = name.find("demand") == std::string::npos;
    // julianday() takes the shorter fractions of some old stamps for the same instants.
    const auto differing = raw.number(
        std::string("SELECT count(*) FROM old.cluster_status o LEFT JOIN main.cluster_status n "
                    "USING(host_name) WHERE n.region IS NOT o.region OR n.job_name IS NOT "
                    "o.job_name OR n.ip IS NOT o.ip OR n.status IS NOT o.status OR n.role IS NOT "
                    "o.role OR julianday(n.creation_time) IS NOT julianday(o.creation_time) OR "
                    "julianday(n.termination_time) IS NOT julianday(o.termination_time)") +
        (has_reasons ? " OR n.revoked IS NOT o.revoked" : ""));
    ASSERT_TRUE(differing.ok()) << differing.error().message;
    EXPECT_EQ(differing.value(), 0) << name;
  }
}

}  // namespace
}  // namespace orrery
