#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "training/trainer/checkpoint/checkpoint.h"
#include "training/trainer/fake_learner.h"
#include "training/trainer/head/worker_limit.h"
#include "training/trainer/test_run.h"
#include "training/trainer/transport/connection.h"
#include "training/trainer/transport/messages.h"
#include "training/trainer/transport/part.h"

namespace orrery {
namespace {

using nlohmann::json;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A run that goes on until it is stopped.
class EndlessRun {
 public:
  explicit EndlessRun(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"run",          "--model",   "linear", "--batch", "64",
                                          "--rate",       "0.01",      "--json", "--quiet", "--dir",
                                          folder_.run(),  "--workers", "3",      "--data",  "line",
                                          "--time-limit", "120s"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run_ = std::async(std::launch::async,
                      [this, arguments] { return train(arguments, folder_.run()); });
    EXPECT_TRUE(wait_until([this] { return joined() >= 3; }));
  }
  ~EndlessRun() {
    if (run_.valid()) stop();
  }
  EndlessRun(const EndlessRun&) = delete;
  EndlessRun& operator=(const EndlessRun&) = delete;

  const std::string& folder() const { return path_; }
  std::string processes() const { return text_of(path_ + "/processes.csv"); }
  int count(const std::string& what) const {
    const std::string table = processes();
    int found = 0;
    for (auto at = table.find(what); at != std::string::npos; at = table.find(what, at + 1))
      ++found;
    return found;
  }
  int joined() const { return count("\"joined\""); }
  std::string host() const { return place().first; }
  std::uint16_t port() const { return place().second; }
  RunToken token() const { return parse_token(text_of(path_ + "/token")).value(); }

  json stop() {
    std::istringstream words(text_of(path_ + "/head"));
    std::string host;
    int port = 0;
    pid_t pid = 0;
    words >> host >> port >> pid;
    kill(pid, SIGTERM);
    const TestRun run = run_.get();
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    return json::parse(run.output, nullptr, false);
  }

 private:
  std::pair<std::string, std::uint16_t> place() const {
    std::istringstream words(text_of(path_ + "/head"));
    std::pair<std::string, std::uint16_t> found;
    words >> found.first >> found.second;
    return found;
  }

  TestFolder folder_;
  const std::string path_ = folder_.run();
  std::future<TestRun> run_;
};

class Elastic : public testing::TestWithParam<const char*> {};

TEST_P(Elastic, ARunGrowsAndShrinksWhileTheOtherWorkersGoOn) {
  EndlessRun run({"--arch", GetParam(), "--patience", "10"});
  const TestRun grown = train({"resize", run.folder(), "5"}, run.folder());
  EXPECT_EQ(grown.exit_code, 0) << grown.errors;
  EXPECT_EQ(grown.output, "from 3 to 5 workers\n");
  ASSERT_TRUE(wait_until([&run] { return run.joined() == 5; })) << run.processes();
  EXPECT_EQ(train({"resize", run.folder(), "2"}, run.folder()).exit_code, 0);
  ASSERT_TRUE(wait_until([&run] {
    return run.count("End of file") + run.count("ended with 0") == 3;
  })) << run.processes();
  const TestRun none = train({"resize", run.folder(), "0"}, run.folder());
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find("from 1 to "), std::string::npos) << none.errors;
  const TestRun many = train({"resize", run.folder(), "5000"}, run.folder());
  EXPECT_EQ(many.exit_code, 1);
  EXPECT_NE(many.errors.find("at most "), std::string::npos) << many.errors;
  const json summary = run.stop();
  EXPECT_EQ(summary["workers"], 2);
  EXPECT_EQ(summary["deaths"], 0);
  EXPECT_EQ(summary["restarts"], 0);
  EXPECT_EQ(run.count("\"started\""), GetParam() == std::string("ps") ? 7 : 6);
}

TEST_P(Elastic, AWorkerMayJoinByItselfAndLeave) {
  EndlessRun run({"--arch", GetParam(), "--patience", "10"});
  const std::string head = run.host() + ":" + std::to_string(run.port());
  auto worker = std::async(std::launch::async, [&run, &head] {
    return train({"worker", "--join", head, "--token-file", run.folder() + "/token"},
                 run.folder() + "-joiner");
  });
  ASSERT_TRUE(wait_until([&run] { return run.joined() == 4; })) << run.processes();
  const json summary = run.stop();
  EXPECT_EQ(summary["workers"], 4);
  EXPECT_EQ(worker.get().exit_code, 0);
}

TEST(RunSize, BeyondWhatTheMachineAllowsIsRefusedBeforeItStarts) {
  const TestFolder folder;
  const std::string workers = std::to_string(4 * machine_cores() + 1);
  const Outcome outcome =
      run_in(folder.run(), {"--batch", "4096", "--steps", "8", "--workers", workers});
  EXPECT_EQ(outcome.run.exit_code, 2);
  EXPECT_NE(outcome.run.errors.find("--workers " + workers + ": at most "), std::string::npos)
      << outcome.run.errors;
  EXPECT_NE(outcome.run.errors.find("--anyway"), std::string::npos) << outcome.run.errors;
}

INSTANTIATE_TEST_SUITE_P(Architectures, Elastic, testing::Values("ps", "allreduce"));

// A run as a job of the scheduler's, whose agent is away.
class JobRun {
 public:
  ~JobRun() {
    for (const char* const name : {"SOCKET", "GPUS", "RESUMED", "CHECKPOINT_DIR"}) {
      unsetenv((std::string("ORRERY_") + name).c_str());
    }
  }
  json start(const char* gpus, const char* resumed, const char* steps) {
    setenv("ORRERY_SOCKET", (folder_.path() + "/socket").c_str(), 1);
    setenv("ORRERY_CHECKPOINT_DIR", folder_.run().c_str(), 1);
    setenv("ORRERY_GPUS", gpus, 1);
    setenv("ORRERY_RESUMED", resumed, 1);
    const TestRun run =
        train({"run", "--model", "linear", "--batch", "64", "--rate", "0.01", "--json", "--workers",
               "4", "--data", "line", "--steps", steps, "--anyway"},
              folder_.run());
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    return json::parse(run.output, nullptr, false);
  }
  ParameterVersion version() const {
    return newest_checkpoint(folder_.run()).value().checkpoint.conductor.version;
  }

 private:
  TestFolder folder_;
};

TEST(JobOfTheScheduler, HasAsManyWorkersForAGpuAsAtFirstHoweverOftenItIsResized) {
  JobRun job;
  EXPECT_EQ(job.start("0,1", "0", "40")["workers"], 4);
  EXPECT_EQ(job.start("3", "1", "80")["workers"], 2);
  EXPECT_EQ(job.version(), 20) << "as many samples as with all of them";
  EXPECT_EQ(job.start("0,1,2", "1", "120")["workers"], 6);
  EXPECT_EQ(job.start("0,2", "1", "160")["workers"], 4);
  EXPECT_EQ(job.version(), 40);
}

TEST(JobOfTheScheduler, WithoutGpusItHasTheWorkersOfItsOptions) {
  JobRun job;
  EXPECT_EQ(job.start("", "0", "40")["workers"], 4);
  EXPECT_EQ(job.start("", "1", "80")["workers"], 4);
}

TEST(Token, ACallerWithoutItIsRefusedAndCounted) {
  EndlessRun run({});
  boost::asio::io_context io;
  for (const std::string& said :
       {std::string("GET / HTTP/1.1\r\n\r\n") + std::string(100, ' '), std::string(200, '\0')}) {
    tcp::socket caller(io);
    caller.connect({boost::asio::ip::make_address(run.host()), run.port()});
    boost::asio::write(caller, boost::asio::buffer(said));
    char byte = 0;
    boost::system::error_code error;
    EXPECT_EQ(boost::asio::read(caller, boost::asio::buffer(&byte, 1), error), 0U);
    EXPECT_TRUE(error);
  }
  EXPECT_EQ(run.stop()["refused_connections"], 2);
}

// Any login of the machine can hold connections to a port of the loopback.
TEST(Token, CallersThatSayNothingKeepNoPartOut) {
  EndlessRun run({});
  boost::asio::io_context io;
  std::vector<tcp::socket> silent;
  for (int i = 0; i < 100; ++i) {
    silent.emplace_back(io);
    silent.back().connect({boost::asio::ip::make_address(run.host()), run.port()});
  }
  const TestRun grown = train({"resize", run.folder(), "4"}, run.folder());
  EXPECT_EQ(grown.exit_code, 0) << grown.errors;
  EXPECT_TRUE(wait_until([&run] { return run.joined() == 4; })) << run.processes();
}

TEST(Token, OnlyItsOwnerCanReadIt) {
  EndlessRun run({});
  struct stat status {};
  ASSERT_EQ(stat((run.folder() + "/token").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST(Stopping, ASignalLeavesACheckpointAndTheSummary) {
  EndlessRun run({});
  ASSERT_TRUE(wait_until([&run] { return text_of(run.folder() + "/curve.csv").size() > 40; }));
  const json summary = run.stop();
  EXPECT_EQ(summary["ended"], "it was asked to stop");
  EXPECT_GT(summary["gradients"], 0);
  auto found = newest_checkpoint(run.folder());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().checkpoint.conductor.version, summary["updates"].get<std::int64_t>());
}

// A worker that has the token but hands in what does not fit.
class Rogue {
 public:
  explicit Rogue(const EndlessRun& run) {
    transport_->token = run.token();
    head_ = connect_to(io_, run.host(), run.port(), transport_).value();
    head_->send(MessageType::Hello, 0, Hello{.role = PartRole::Worker, .id = -1, .pid = 0});
    head_->start({.frame = [this](Connection&, MessageFrame& frame) { from_head(frame); },
                  .closed = [this](Connection&, const Error&) { over_ = true; },
                  .place = {}},
                 {.floats = 100});
  }
  void run() {
    while (!over_ && io_.run_one() > 0) {
    }
  }
  int tasks() const { return tasks_; }

 private:
  void from_head(MessageFrame& frame) {
    if (frame.header.type == MessageType::Setup) {
      auto learner = make_fake_learner({.data = "line"});
      head_->send(MessageType::Ready, 0, ReadyMessage{.tensors = learner.value()->tensors()});
    } else if (frame.header.type == MessageType::Peers) {
      const PeersMessage peers = read_fields<PeersMessage>(frame.body).value();
      shard_ = connect_to(io_, peers.shards[0].first, peers.shards[0].second, transport_).value();
      shard_->send(MessageType::Hello, 0,
                   Hello{.role = PartRole::Worker, .id = peers.id, .pid = 0});
      shard_->start({.frame =
                         [this](Connection&, MessageFrame& got) {
                           parameters_of_ = got.header.number;
                           hand_in_if_complete();
                         },
                     .closed =
                         [this](Connection&, const Error&) {
                           over_ = true;
                           head_->close({Code::Cancelled, "done"});
                         },
                     .place = {}},
                    {.floats = 100});
      head_->send(MessageType::Joined, 0, Nothing{});
    } else if (frame.header.type == MessageType::StartTask) {
      task_ = read_fields<TaskMessage>(frame.body).value().task;
      hand_in_if_complete();
    }
  }

  void hand_in_if_complete() {
    if (task_.number == parameters_of_) hand_in(task_);
  }

  void hand_in(const Task& task) {
    // Too short at first, then longer than anything that could be right.
    const auto values = std::make_shared<std::vector<float>>(++tasks_ == 1 ? 5 : 50, 1.0F);
    const Gradient gradient{.task = task.number, .samples = task.samples.count};
    head_->send(MessageType::GradientDone, task.number, GradientMessage{gradient});
    shard_->send(MessageType::Gradient, task.number, GradientMessage{gradient},
                 {.floats = {*values}, .keep = values, .sent = {}});
  }

  boost::asio::io_context io_{1};
  std::shared_ptr<Transport> transport_{std::make_shared<Transport>()};
  std::shared_ptr<Connection> head_{}, shard_{};
  Task task_{};
  std::int64_t parameters_of_ = -1;
  int tasks_ = 0;
  bool over_ = false;
};

TEST(Rogue, AGradientOfTheWrongShapeIsDroppedAndOneTooLongEndsTheConnection) {
  EndlessRun run({"--mode", "asgd"});
  Rogue rogue(run);
  rogue.run();
  EXPECT_EQ(rogue.tasks(), 2);
  ASSERT_TRUE(wait_until([&run] { return run.count("End of file") == 1; })) << run.processes();
  const json summary = run.stop();
  EXPECT_EQ(summary["spoiled"], 1);
  EXPECT_EQ(summary["deaths"], 1);
  EXPECT_EQ(summary["workers"], 3);
}

}  // namespace
}  // namespace orrery
