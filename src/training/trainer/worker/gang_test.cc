#include "training/trainer/worker/gang.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>
#include <sstream>

#include <functional>
#include <map>
#include <thread>

#include "training/trainer/started_run.h"
#include "training/trainer/transport/host.h"

namespace orrery {
namespace {

using nlohmann::json;

const std::string kSecret(64, 'a');

Result<std::optional<GangPlace>> read(const std::map<std::string, std::string>& variables) {
  return read_gang([&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

TEST(Gang, AProcessAloneIsNoGang) {
  EXPECT_FALSE(read({}).value().has_value());
  EXPECT_FALSE(read({{"ORRERY_RANKS", "1"}, {"ORRERY_RANK", "0"}}).value().has_value());
}

TEST(Gang, TheLaunchSaysWhichRankAndWhereTheFirstIs) {
  const auto gang = read({{"ORRERY_RANKS", "4"},
                          {"ORRERY_RANK", "3"},
                          {"WORLD_SIZE", "9"},
                          {"MASTER_ADDR", "node-1"},
                          {"MASTER_PORT", "20017"},
                          {"ORRERY_GANG_SECRET", kSecret}});
  ASSERT_TRUE(gang.ok() && gang.value());
  EXPECT_EQ(gang.value()->rank, 3);
  EXPECT_EQ(gang.value()->ranks, 4);
  EXPECT_EQ(gang.value()->address, "node-1");
  EXPECT_EQ(gang.value()->port, 20017);
  EXPECT_EQ(token_text(gang.value()->token), kSecret.substr(0, 32));
}

TEST(Gang, ALaunchWithoutASecretIsRefusedAndNotTrainedAlone) {
  std::map<std::string, std::string> variables{
      {"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "20000"}};
  EXPECT_FALSE(read(variables).ok());
  variables["ORRERY_GANG_SECRET"] = "short";
  EXPECT_FALSE(read(variables).ok());
  variables["ORRERY_GANG_SECRET"] = kSecret;
  EXPECT_TRUE(read(variables).ok());
  for (const auto& [name, value] :
       {std::pair("RANK", "2"), std::pair("RANK", ""), std::pair("MASTER_PORT", "0"),
        std::pair("MASTER_ADDR", ""), std::pair("WORLD_SIZE", "two")}) {
    auto wrong = variables;
    wrong[name] = value;
    EXPECT_FALSE(read(wrong).ok()) << name;
  }
}

TEST(Gang, TheRanksShareTheWorkers) {
  for (const int ranks : {2, 3, 5}) {
    for (const int workers : {1, 2, 7, 8}) {
      int all = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_GE(GangPlace::workers_of(rank, ranks, workers), 1);
        all += GangPlace::workers_of(rank, ranks, workers);
      }
      EXPECT_EQ(all, std::max(ranks, workers));
    }
  }
}

std::uint16_t free_port() {
  boost::asio::io_context io;
  tcp::acceptor acceptor(io, {boost::asio::ip::make_address("127.0.0.1"), 0});
  return acceptor.local_endpoint().port();
}

// The ranks of one launch, each in a folder of its own as on two machines.
class Launched {
 public:
  explicit Launched(int ranks) : ranks_(ranks), port_(std::to_string(free_port())) {}
  ~Launched() {
    for (const char* const name : {"RANKS", "RANK", "MASTER_ADDR", "MASTER_PORT", "GANG_SECRET"}) {
      unsetenv((std::string("ORRERY_") + name).c_str());
    }
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  StartedRun& start(int rank, const std::vector<std::string>& more,
                    const std::string& secret = kSecret) {
    setenv("ORRERY_RANKS", std::to_string(ranks_).c_str(), 1);
    setenv("ORRERY_RANK", std::to_string(rank).c_str(), 1);
    setenv("ORRERY_MASTER_ADDR", "127.0.0.1", 1);
    setenv("ORRERY_MASTER_PORT", port_.c_str(), 1);
    setenv("ORRERY_GANG_SECRET", secret.c_str(), 1);
    std::vector<std::string> arguments = {"run",    "--model",    "linear",    "--batch", "64",
                                          "--rate", "0.01",       "--json",    "--data",  "line",
                                          "--dir",  folder(rank), "--workers", "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    runs_.push_back(std::make_unique<StartedRun>(arguments, folder(rank)));
    return *runs_.back();
  }
  std::string folder(int rank) const { return folder_.path() + "/rank" + std::to_string(rank); }

 private:
  const int ranks_;
  const std::string port_;
  TestFolder folder_;
  std::vector<std::unique_ptr<StartedRun>> runs_{};
};

class GangRun : public testing::TestWithParam<const char*> {};

TEST_P(GangRun, TrainsOnceOverAllRanks) {
  Launched job(3);
  StartedRun& second = job.start(1, {"--arch", GetParam(), "--steps", "200"});
  StartedRun& third = job.start(2, {"--arch", GetParam(), "--steps", "200"});
  StartedRun& first = job.start(0, {"--arch", GetParam(), "--steps", "200"});
  const TestRun led = first.wait();
  ASSERT_EQ(led.exit_code, 0) << led.errors;
  const json summary = json::parse(led.output, nullptr, false);
  EXPECT_EQ(summary["gradients"], 200);
  EXPECT_EQ(summary["workers"], 4);
  std::istringstream processes(first.table("processes.csv"));
  int own_workers = 0;
  for (std::string line; std::getline(processes, line);) {
    own_workers += line.find(",worker,") != std::string::npos && line.ends_with("\"started\"");
  }
  EXPECT_EQ(own_workers, 2);
  for (StartedRun* const rank : {&second, &third}) {
    const TestRun ended = rank->wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    EXPECT_EQ(ended.output, "") << "rank 0 alone has a summary";
  }
  EXPECT_TRUE(last_checkpoint(job.folder(0)).conductor.version > 0);
}

INSTANTIATE_TEST_SUITE_P(Architectures, GangRun, testing::Values("ps", "allreduce"));

TEST(Gang, ASignalForAllRanksEndsThemAllWithTheCheckpoint) {
  Launched job(2);
  StartedRun& first = job.start(0, {"--time-limit", "120s"});
  StartedRun& second = job.start(1, {"--time-limit", "120s"});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (first.count("\"joined\"") < 4 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(-second.pid(), SIGTERM);
  kill(-first.pid(), SIGTERM);
  const TestRun led = first.wait();
  EXPECT_EQ(led.exit_code, 0) << led.errors;
  EXPECT_EQ(second.wait().exit_code, 0);
  EXPECT_EQ(last_checkpoint(job.folder(0)).conductor.version,
            json::parse(led.output, nullptr, false)["updates"]);
}

TEST(Gang, WhenTheHeadDiesTheOtherRanksFail) {
  Launched job(2);
  StartedRun& first = job.start(0, {"--time-limit", "120s"});
  StartedRun& second = job.start(1, {"--time-limit", "120s"});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (first.count("\"joined\"") < 4 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(first.pid(), SIGKILL);
  EXPECT_EQ(first.wait().exit_code, 128 + SIGKILL);
  const TestRun ended = second.wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.errors.find("head of the gang"), std::string::npos) << ended.errors;
}

TEST(Gang, ARankWithAnotherSecretIsRefused) {
  Launched job(2);
  StartedRun& first = job.start(0, {"--time-limit", "120s"});
  StartedRun& second = job.start(1, {"--time-limit", "120s"}, std::string(64, 'b'));
  const TestRun ended = second.wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.errors.find("the token was refused"), std::string::npos) << ended.errors;
  kill(first.pid(), SIGKILL);
  first.wait();
}

}  // namespace
}  // namespace orrery
