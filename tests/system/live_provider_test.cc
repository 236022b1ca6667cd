// `serve --provider local`: servers are processes of this machine, and the scheduler holds as many
// as its queue needs.
#include <signal.h>

#include <algorithm>

#include "cloud/ledger/cost_ledger.h"
#include "system/live.h"

namespace orrery {
namespace {

constexpr const char* kPrices = R"(date = "2026-11-01"
source = "test"
[[offer]]
zones = ["a", "b"]
machine_type = "process"
gpu = "process-gpu"
gpus = 1
class = "spot"
usd_per_hour = 3.6
notice = "60s"
)";

// An hour of the provider is a minute.
constexpr const char* kServers = R"(prices = "prices.toml"
cluster = "night"
servers_max = 3
idle = "3m"
budget_usd = 40.0
[local]
speed = 60
start_up = "20s"
)";

class LiveProvider : public LiveTest {
 protected:
  std::unique_ptr<Background> serve_servers(const std::string& more = "") {
    folder_.write("prices.toml", kPrices);
    folder_.write("servers.toml", kServers + more);
    return serve({"--provider", "local", "--provider-file", file("servers.toml"), "--lease", "1s"});
  }
  JobNumber submit(const std::string& name, const std::string& work) {
    JobRequest request = careful_job(name, work);
    request.grace = std::chrono::seconds(1);
    const auto answer = RpcClient(admin()).submit({.job = std::move(request)});
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? answer.value().first : 0;
  }
  // What a job does that ends when the test allows it.
  std::string until_allowed() const {
    return "until [ -e " + file("allowed") + " ]; do sleep 0.02; done";
  }
  void allow_end() const { folder_.write("allowed", "yes"); }
  std::vector<std::string> nodes_now() const {
    std::vector<std::string> names;
    const auto answer = RpcClient(admin()).nodes();
    if (!answer.ok()) return {"no answer"};
    for (const NodeStatus& node : answer.value().nodes) names.push_back(node.name);
    return names;
  }
  std::vector<LedgerServer> ledger() const {
    auto opened = CostLedger::open_to_read(state() + "/servers.db");
    if (!opened.ok()) return {};
    auto servers = std::move(opened).value().servers("night");
    return servers.ok() ? std::move(servers).value() : std::vector<LedgerServer>();
  }
};

TEST_F(LiveProvider, TheClusterGrowsWithTheQueueAndShrinksToNothing) {
  const auto scheduler = serve_servers();
  ASSERT_TRUE(nodes_now().empty());
  for (int i = 0; i < 5; ++i) submit("j" + std::to_string(i), until_allowed());
  // Five jobs wait, and servers_max is three.
  EXPECT_TRUE(eventually([&] { return nodes_now().size() == 3; })) << scheduler->errors();
  allow_end();
  expect_all_done_once();
  EXPECT_TRUE(eventually([&] { return nodes_now().empty(); })) << scheduler->errors();
  const auto servers = ledger();
  EXPECT_EQ(servers.size(), 3U);
  for (const LedgerServer& row : servers) {
    EXPECT_EQ(row.server.end_reason, EndReason::ClusterStop) << row.server.spec.name;
    EXPECT_GT(row.usd, 0) << row.server.spec.name;
  }
  EXPECT_EQ(scheduler->stop(), 0);
}

TEST_F(LiveProvider, AJobThatNamesItsGpuRunsOnAServerThatHasIt) {
  const auto scheduler = serve_servers();
  JobRequest request = careful_job("typed", "true");
  request.gpu_type = "process-gpu";
  ASSERT_TRUE(RpcClient(admin()).submit({.job = std::move(request)}).ok());
  expect_idle();
  EXPECT_EQ(job(1)->state, JobState::Done) << scheduler->errors();
}

TEST_F(LiveProvider, JobsOfARevokedServerRunAgainElsewhere) {
  const auto scheduler = serve_servers("seed = 5\nlifetime_mean = \"2m\"\n");
  for (int i = 0; i < 4; ++i) submit("j" + std::to_string(i), until_allowed());
  // The jobs run until one of them has been taken away and has begun again.
  EXPECT_TRUE(eventually([&] {
    const std::vector<std::string> begun = ran();
    return std::ranges::any_of(
        begun, [](const std::string& line) { return std::stoi(line.substr(line.find(' '))) > 1; });
  })) << scheduler->errors();
  allow_end();
  expect_all_done_once();
  EXPECT_NE(scheduler->errors().find("was revoked"), std::string::npos) << scheduler->errors();
}

// The job counts, and saves its count when it is asked to stop. With a count that is saved it ends.
TEST_F(LiveProvider, AJobSavesBeforeItsServerIsRevokedAndGoesOnFromThere) {
  // A life of about four minutes of the provider, a minute of which is the notice.
  const auto scheduler = serve_servers("weibull_shape = 50\nweibull_scale = \"4m\"\n");
  submit("counts", "if [ -s " + file("saved") + " ]; then exit 0; fi; n=0; trap 'echo $n >" +
                       file("saved") + "; exit 1' TERM; while :; do n=$((n+1)); echo $n >" +
                       file("counted") + "; sleep 0.05; done");
  expect_idle();
  EXPECT_EQ(job(1)->state, JobState::Done) << scheduler->errors();
  EXPECT_EQ(ran().size(), 2U) << scheduler->errors();
  EXPECT_EQ(file_text(file("saved")), file_text(file("counted"))) << "no work is lost";
  const auto servers = ledger();
  ASSERT_GE(servers.size(), 2U);
  EXPECT_EQ(servers[0].server.end_reason, EndReason::Revoked);
  EXPECT_NE(servers[0].server.noticed, kNever);
}

TEST_F(LiveProvider, NoServerOutlivesASchedulerThatIsKilled) {
  const auto scheduler = serve_servers();
  submit("long", "echo $$ >>" + file("pids") + "; sleep 1000");
  ASSERT_TRUE(eventually(
      [&] { return std::filesystem::exists(file("pids")) && !file_text(file("pids")).empty(); }));
  const auto pid = static_cast<pid_t>(std::stol(file_text(file("pids"))));
  ASSERT_EQ(::kill(pid, 0), 0);
  scheduler->kill();
  EXPECT_TRUE(eventually([&] { return ::kill(pid, 0) != 0; })) << "the job is left";
}

TEST_F(LiveProvider, ABudgetEndsAllServersAndTheJobsWait) {
  const auto scheduler = serve_servers();
  scheduler->kill();
  // 3.6 USD an hour: 10 minutes of the provider are 0.60 USD.
  folder_.write("servers.toml",
                std::string(kServers).replace(std::string_view(kServers).find("40.0"), 4, "0.9"));
  const auto again =
      serve({"--provider", "local", "--provider-file", file("servers.toml"), "--lease", "1s"});
  submit("long", "sleep 1000");
  ASSERT_TRUE(eventually([&] {
    return again->errors().find("the budget of 0.90 USD is spent") != std::string::npos;
  }));
  ASSERT_TRUE(eventually([&] { return nodes_now().empty(); }));
  EXPECT_NE(job(1)->state, JobState::Failed);
  double usd = 0;
  for (const LedgerServer& row : ledger()) usd += row.usd;
  EXPECT_GT(usd, 0.3);
  EXPECT_LE(usd, 0.9);
}

}  // namespace
}  // namespace orrery
