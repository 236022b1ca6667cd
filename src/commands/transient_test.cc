#include "commands/transient.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/test_folder.h"
#include "cloud/ledger/cost_ledger.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

const std::string kPublished = std::string(ORRERY_SHARED) +
                               "/data/transient/training/k80_spot/2-spot/2_spot_cluster_status.db";
const std::string kPrices = std::string(ORRERY_SOURCE) + "/data/prices/gce-2019-02.toml";

template <class Command, class Arguments>
std::string printed(Command command, const Arguments& arguments) {
  testing::internal::CaptureStdout();
  const Status status = command(arguments);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(status.ok()) << status.error().message;
  return text;
}

std::string fault(const TransientSimulateArguments& arguments) {
  const Status status = transient_simulate_command(arguments);
  EXPECT_FALSE(status.ok());
  return status.ok() ? "" : status.error().message;
}

TransientSimulateArguments small() { return {.steps = 2e5, .runs = 20, .json = true}; }

TEST(TransientSimulate, PrintsAllPoliciesAsJson) {
  const Json json = Json::parse(printed(transient_simulate_command, small()));
  ASSERT_EQ(json["policies"].size(), 7U);
  EXPECT_EQ(json["policies"][0]["policy"], "all-on-demand");
  for (const Json& policy : json["policies"]) {
    EXPECT_EQ(policy["runs"], 20);
    EXPECT_GT(policy["usd"]["mean"], 0.0);
    EXPECT_LE(policy["time_s"]["p10"], policy["time_s"]["p90"]);
  }
  EXPECT_LT(json["policies"][2]["usd"]["mean"], json["policies"][0]["usd"]["mean"]);
}

TEST(TransientSimulate, WritesAPageWithCostAgainstTime) {
  const TestFolder folder;
  TransientSimulateArguments arguments = small();
  arguments.report = folder / "page.html";
  printed(transient_simulate_command, arguments);
  const auto page = read_file(arguments.report);
  ASSERT_TRUE(page.ok());
  EXPECT_NE(page.value().find("Cost against time"), std::string::npos);
  EXPECT_NE(page.value().find("<title>cheapest-spot: "), std::string::npos);
}

TEST(TransientSimulate, AListOfTheWrongLengthSaysWhichRoleLacksAnEntry) {
  TransientSimulateArguments arguments = small();
  arguments.cluster.gpus = {"K80", "V100", "K80"};
  EXPECT_EQ(fault(arguments),
            "--gpu: 3 entries for 4 workers: the chief has K80, worker 1 has V100, worker 2 has "
            "K80; worker 3 has none");
  arguments.cluster.gpus = {"K80"};
  arguments.cluster.workers = 1;
  arguments.cluster.zones = {"us-west1-b", "us-east1-c"};
  EXPECT_EQ(fault(arguments),
            "--zone: 2 entries for 1 workers: the chief has us-west1-b; the entry 'us-east1-c' has "
            "no worker");
}

TEST(TransientSimulate, FaultsSayWhatThereIs) {
  TransientSimulateArguments arguments = small();
  arguments.cluster.zones = {"mars-1"};
  EXPECT_NE(fault(arguments).find("there is no zone 'mars-1'; the zones are asia-east1-a"),
            std::string::npos);
  arguments = small();
  arguments.cluster.gpus = {"T4"};
  EXPECT_NE(fault(arguments).find("the GPUs are K80, P100, V100"), std::string::npos);
  arguments = small();
  arguments.policies = {"never"};
  EXPECT_NE(fault(arguments).find("the policies are all-on-demand, go-on"), std::string::npos);
  arguments = small();
  arguments.cluster.speeds = {"K80=fast"};
  EXPECT_EQ(fault(arguments), "--speed K80=fast: write GPU=STEPS, such as T4=12.5");
  arguments = small();
  arguments.chief = "none";
  EXPECT_EQ(fault(arguments), "--chief none: write take-over, restart or stop");
}

TEST(TransientLedger, PrintsTheCostOfAJobInThreeForms) {
  const TestFolder folder;
  const std::string path = folder / "ledger.db";
  {
    auto opened = CostLedger::open(path);
    ASSERT_TRUE(opened.ok());
    CostLedger ledger = std::move(opened).value();
    ASSERT_TRUE(ledger.start_job({.name = "a,b", .started = Time{}}).ok());
    ServerSpec spec{.name = "a-0", .job = "a,b", .role = "chief", .request_id = "1"};
    spec.offer.price_usd_per_hour = 0.36;
    ASSERT_TRUE(ledger.add_server(spec, 0.72).ok());
    const auto event = [&](std::int64_t sequence, ServerEvent::Kind kind, double at_s) {
      ServerEvent happened;
      happened.sequence = sequence;
      happened.kind = kind;
      happened.server = "a-0";
      happened.at = time_from_seconds(at_s);
      EXPECT_TRUE(ledger.record(happened).ok());
    };
    event(1, ServerEvent::Kind::Requested, 0);
    event(2, ServerEvent::Kind::Running, 60);
    event(3, ServerEvent::Kind::Revoked, 1800);
  }
  const Json json = Json::parse(printed(
      transient_ledger_command, TransientLedgerArguments{.file = path, .list = {.json = true}}));
  EXPECT_NEAR(json["jobs"][0]["usd"].get<double>(), 0.18, 1e-12);
  EXPECT_NEAR(json["jobs"][0]["on_demand_usd"].get<double>(), 0.36, 1e-12);
  EXPECT_NEAR(json["jobs"][0]["saving_pct"].get<double>(), 50, 1e-9);
  const std::string csv =
      printed(transient_ledger_command, TransientLedgerArguments{.file = path, .csv = true});
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "job,outcome,steps,started_at,ended_at,servers,revoked,never_ran,live,server_hours,usd,"
            "on_demand_usd,saving_pct");
  EXPECT_NE(csv.find("\n\"a,b\",,0,1970-01-01T00:00:00.000000000Z,,1,1,0,0,0.5,0.18"),
            std::string::npos)
      << csv;
  const std::string table =
      printed(transient_ledger_command, TransientLedgerArguments{.file = path, .servers = true});
  EXPECT_NE(table.find("revoked"), std::string::npos);
  EXPECT_EQ(transient_ledger_command({.file = path, .job = "other"}).error().message,
            path + ": there is no job 'other'");
}

TEST(TransientLedger, ImportsAPublishedDatabaseWithPrices) {
  if (!std::filesystem::exists(kPublished)) GTEST_SKIP() << kPublished << " is not there";
  const TestFolder folder;
  const Json json = Json::parse(
      printed(transient_ledger_command, TransientLedgerArguments{.file = folder / "ledger.db",
                                                                 .list = {.json = true},
                                                                 .import = kPublished,
                                                                 .gpu = "K80",
                                                                 .prices = kPrices}));
  ASSERT_EQ(json["jobs"].size(), 32U);
  for (const Json& job : json["jobs"]) {
    EXPECT_NEAR(job["saving_pct"].get<double>(), 100 * (1 - 0.071 / 0.20083), 1e-6);
  }
}

TEST(TransientLedger, AFileThatIsNoLedgerIsRefused) {
  const TestFolder folder;
  EXPECT_EQ(transient_ledger_command({.file = folder / "none.db"}).error().code, Code::NotFound);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.db"));
  EXPECT_EQ(transient_ledger_command({.file = folder / "l.db", .import = "x"}).error().message,
            "--import: write --gpu; the database does not name it");
}

}  // namespace
}  // namespace orrery
