// Runs over several machines, with parameter servers and by all-reduce.
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "training/network.h"
#include "training/trainer/started_run.h"

namespace orrery {
namespace {

using nlohmann::json;

// The head and two workers on machine 0; workers of the others come and go.
class Machines : public testing::TestWithParam<const char*> {
 protected:
  void begin(int machines, const std::string& listen, const std::vector<std::string>& more = {}) {
    network_ = std::make_unique<TestNetwork>(machines);
    if (!network_->missing().empty()) GTEST_SKIP() << network_->missing();
    std::vector<std::string> arguments = {
        "run",     "--arch", GetParam(), "--listen",     listen,   "--workers", "2",
        "--model", "mlp",    "--data",   "gaussian",     "--json", "--batch",   "96",
        "--dir",   folder(), "--quiet",  "--time-limit", "300s"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run_ = std::make_unique<StartedRun>(arguments, folder(), network_->on(0));
    ASSERT_TRUE(wait_until([this] { return run_->count("\"joined\"") >= 2 || run_->ended(); }));
    ASSERT_FALSE(run_->ended()) << run_->wait().errors;
  }

  std::unique_ptr<StartedRun> joiner(int machine, const std::vector<std::string>& more = {}) {
    std::istringstream head(run_->table("head"));
    std::string host, port;
    head >> host >> port;
    std::vector<std::string> arguments = {"worker", "--join", TestNetwork::address(0) + ":" + port,
                                          "--token-file", folder() + "/token"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<StartedRun>(
        arguments, folder_.path() + "/joiner" + std::to_string(joiners_++), network_->on(machine));
  }

  // Gradients of a worker that went into the parameters so far. The table is written in blocks.
  int used(int worker) const {
    std::istringstream lines(run_->table("iterations.csv"));
    std::string line;
    int found = 0;
    while (std::getline(lines, line)) {
      int id = -1, staleness = -1;
      if (std::sscanf(line.c_str(), "%*[^,],%d,%*[^,],%*[^,],%*[^,],%d", &id, &staleness) == 2) {
        found += id == worker && staleness >= 0;
      }
    }
    return found;
  }

  json finish() {
    kill(run_->pid(), SIGTERM);
    const TestRun ended = run_->wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    json summary = json::parse(ended.output, nullptr, false);
    EXPECT_EQ(last_checkpoint(folder()).conductor.version, summary["updates"]) << ended.output;
    EXPECT_EQ(summary["restarts"], 0) << ended.errors;
    return summary;
  }
  std::string folder() const { return folder_.run(); }

  TestFolder folder_;
  std::unique_ptr<TestNetwork> network_{};
  std::unique_ptr<StartedRun> run_{};
  int joiners_ = 0;
};

TEST_P(Machines, AWorkerOfASecondMachineJoinsAndLeaves) {
  begin(2, "0.0.0.0");
  if (IsSkipped() || HasFatalFailure()) return;
  const auto other = joiner(1);
  ASSERT_TRUE(wait_until([this] { return used(2) > 20; })) << run_->table("processes.csv");
  kill(other->pid(), SIGTERM);
  EXPECT_EQ(other->wait().exit_code, 0);
  ASSERT_TRUE(wait_until([this] { return run_->count("worker,2,") >= 2; }));
  const int before = used(1);
  ASSERT_TRUE(wait_until([&] { return used(1) > before + 20; })) << "the others go on";
  const json summary = finish();
  EXPECT_EQ(summary["workers"], 2);
  EXPECT_EQ(summary["deaths"], 0);
}

TEST_P(Machines, ThreeTrainTogetherAndOneMayDie) {
  begin(3, TestNetwork::address(0), {"--patience", "20"});
  if (IsSkipped() || HasFatalFailure()) return;
  const auto second = joiner(1);
  ASSERT_TRUE(wait_until([this] { return run_->count("\"joined\"") == 3; }));
  const auto third = joiner(2);
  ASSERT_TRUE(wait_until([this] { return used(2) > 20 && used(3) > 20; }))
      << run_->table("processes.csv");
  kill(third->pid(), SIGKILL);
  third->wait();
  ASSERT_TRUE(wait_until([this] { return run_->count("worker,3,") >= 2; }));
  const int before = used(2);
  ASSERT_TRUE(wait_until([&] { return used(2) > before + 20; })) << "the others go on";
  const json summary = finish();
  EXPECT_EQ(summary["workers"], 3);
  EXPECT_EQ(summary["deaths"], 1);
  EXPECT_EQ(second->wait().exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Machines, testing::Values("ps", "allreduce"));

class RingOverMachines : public Machines {};

TEST_P(RingOverMachines, AWorkerThatTheOthersDoNotReachIsNamedAndGivenUp) {
  begin(2, "0.0.0.0", {"--patience", "3"});
  if (IsSkipped() || HasFatalFailure()) return;
  // Of two members the one with the greater address connects.
  const std::string hidden = "10.1.1.1";
  ASSERT_TRUE(network_->add_unreachable(1, hidden));
  const auto other = joiner(1, {"--listen", hidden});
  ASSERT_TRUE(wait_until([this] { return run_->count("was not reached") == 1; }))
      << run_->table("processes.csv");
  const int before = used(0);
  ASSERT_TRUE(wait_until([&] { return used(0) > before + 20; })) << "the others go on";
  EXPECT_EQ(finish()["workers"], 2);
}

INSTANTIATE_TEST_SUITE_P(Architectures, RingOverMachines, testing::Values("allreduce"));

}  // namespace
}  // namespace orrery
