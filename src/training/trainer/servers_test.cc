#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "training/trainer/head/children.h"
#include "training/trainer/head/servers_line.h"
#include "training/trainer/test_run.h"

namespace orrery {
namespace {

using nlohmann::json;

// `orrery-train servers`, until it is stopped or killed.
class Book {
 public:
  explicit Book(const std::vector<std::string>& more = {}) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const std::string program = own_program(), dir = folder();
    std::vector<std::string> words = {program,   "servers", "--dir",   dir,
                                      "--count", "4",       "--cores", "0.3"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> command;
    for (std::string& word : words) command.push_back(word.data());
    command.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      execv(program.c_str(), command.data());
      _exit(127);
    }
    ::close(ends[1]);
    said_ = fdopen(ends[0], "re");
    EXPECT_NE(line().find("4 servers of 0.3 cores at 127.0.0.1:"), std::string::npos);
  }
  ~Book() {
    if (pid_ > 0) stop(SIGKILL);
    std::fclose(said_);
  }
  Book(const Book&) = delete;
  Book& operator=(const Book&) = delete;

  std::string folder() const { return folder_.path() + "/servers"; }
  // What it says next; waits for it.
  std::string line() {
    std::array<char, 512> buffer{};
    return std::fgets(buffer.data(), buffer.size(), said_) != nullptr ? buffer.data() : "";
  }
  // Reads its output until it says this. False: it ended, or a run left, before it did.
  bool says(const std::string& what) {
    for (std::string next = line(); !next.empty(); next = line()) {
      if (next.find(what) != std::string::npos) return true;
      if (next.find(" left") != std::string::npos) return false;
    }
    return false;
  }
  std::string table() const {
    std::ostringstream text;
    text << std::ifstream(folder() + "/book.csv").rdbuf();
    return text.str();
  }
  int stop(int signal_number = SIGTERM) {
    kill(pid_, signal_number);
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }

 private:
  TestFolder folder_{};
  pid_t pid_ = 0;
  std::FILE* said_ = nullptr;
};

JoinServersMessage requests() {
  JoinServersMessage join{.name = "test"};
  join.requests.assign(4, TaskRequest{.limit = {.cpu = 0.1}});
  join.requests.push_back({.makes_updates = true, .limit = {.cpu = 0.1}});
  return join;
}

// A run's end of the line, without the run.
class Tenant {
 public:
  explicit Tenant(const Book& book) {
    auto joined = ServersLine::join(io_, book.folder(), requests());
    EXPECT_TRUE(joined.ok()) << joined.error().message;
    line_ = std::move(joined).value();
    line_->handle({.limit = [this](int task, const Load& limit) { limits[task] = limit.cpu; },
                   .lost = [this](const std::string&) { lost = true; }});
  }

  void report(double left_s) { line_->report({.left_s = left_s, .task_s = {1, 1, 1, 1, 0}}); }
  // Runs what comes until it holds; false: nothing came for a minute.
  bool until(const std::function<bool()>& holds) {
    while (!holds()) {
      if (io_.run_one_for(std::chrono::minutes(1)) == 0) return false;
    }
    return true;
  }
  GrantAnswer ask() {
    GrantAnswer answer = GrantAnswer::Later;
    EXPECT_TRUE(until([&] {
      answer = line_->may({.mode = {.x = 3}, .rate_ratio = 1.5, .time_saved = 1.0 / 3});
      return answer != GrantAnswer::Later;
    }));
    return answer;
  }
  ServersLine& line() { return *line_; }

  std::map<int, double> limits{};
  bool lost = false;

 private:
  boost::asio::io_context io_{1};
  std::shared_ptr<ServersLine> line_{};
};

TEST(SharedServersProcess, AStragglerGetsCpuFromTheOtherRunAndGivesItBackInSsgd) {
  const Book book;
  Tenant straggler(book), other(book);
  EXPECT_EQ(other.line().places().size(), 5u);
  straggler.report(100);
  other.report(20);
  ASSERT_EQ(straggler.ask(), GrantAnswer::Yes);
  EXPECT_NEAR(straggler.limits[4], 0.15, 1e-9);
  ASSERT_TRUE(other.until([&] { return !other.limits.empty(); }));
  const auto [task, cut] = *other.limits.begin();
  EXPECT_LT(cut, 0.1);
  straggler.line().given_back({});
  ASSERT_TRUE(other.until([&, at = task] { return other.limits[at] > 0.0999; }));
}

TEST(SharedServersProcess, WhatAKilledRunHadIsGivenBack) {
  Book book;
  std::array<int, 2> answers{};
  ASSERT_EQ(pipe(answers.data()), 0);
  Tenant other(book);
  other.report(20);
  const pid_t killed = fork();
  if (killed == 0) {
    Tenant run(book);
    run.report(100);
    const bool granted = run.ask() == GrantAnswer::Yes;
    if (write(answers[1], granted ? "y" : "n", 1) == 1) pause();
    _exit(1);
  }
  char answer = 0;
  ASSERT_EQ(read(answers[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  ASSERT_TRUE(other.until([&] { return !other.limits.empty(); }));
  const auto [task, cut] = *other.limits.begin();
  EXPECT_LT(cut, 0.1);
  kill(killed, SIGKILL);
  waitpid(killed, nullptr, 0);
  ASSERT_TRUE(other.until([&, at = task] { return other.limits[at] > 0.0999; }));
  EXPECT_TRUE(book.says("job 2 left"));
  ::close(answers[0]);
  ::close(answers[1]);
}

TEST(SharedServersProcess, WithoutConsiderationNothingMoves) {
  Book book({"--no-consideration"});
  Tenant straggler(book), other(book);
  EXPECT_EQ(straggler.ask(), GrantAnswer::Yes);
  EXPECT_EQ(other.ask(), GrantAnswer::Yes);
  EXPECT_TRUE(straggler.limits.empty());
  EXPECT_EQ(book.table().find(",limit,"), std::string::npos);
}

TEST(SharedServersProcess, AWrongTokenAndWhatIsNoRunAreRefusedAndCounted) {
  Book book;
  const std::string token = read_file(book.folder() + "/token").value();
  const auto joins = [&](const JoinServersMessage& with) {
    boost::asio::io_context io(1);
    return ServersLine::join(io, book.folder(), with).ok();
  };
  ASSERT_TRUE(write_file_atomically(book.folder() + "/token", token_text(random_token())).ok());
  EXPECT_FALSE(joins(requests()));
  ASSERT_TRUE(write_file_atomically(book.folder() + "/token", token).ok());
  JoinServersMessage senseless = requests();
  senseless.requests[2].limit.cpu = -1;
  EXPECT_FALSE(joins(senseless));
  EXPECT_TRUE(joins(requests()));

  std::istringstream words(read_file(book.folder() + "/servers").value());
  std::string host;
  std::uint16_t port = 0;
  words >> host >> port;
  const auto transport = std::make_shared<Transport>();
  transport->token = parse_token(token).value();
  const auto rude = [&](PartRole role, MessageType type) {
    boost::asio::io_context io(1);
    auto line = connect_to(io, host, port, transport).value();
    bool closed = false;
    line->start({.frame = {},
                 .closed = [&closed](Connection&, const Error&) { closed = true; },
                 .place = {}},
                {});
    line->send(MessageType::Hello, 0, Hello{.role = role});
    line->send(type, 0, ReportMessage{});
    while (!closed && io.run_one_for(std::chrono::minutes(1)) > 0) {
    }
    EXPECT_TRUE(closed);
  };
  rude(PartRole::Worker, MessageType::Report);
  rude(PartRole::Run, MessageType::Report);       // before it has joined
  rude(PartRole::Run, MessageType::JoinServers);  // and is none
  rude(PartRole::Run, MessageType::Gradient);
  EXPECT_EQ(book.stop(), 0);
  std::string last;
  for (std::string next = book.line(); !next.empty(); next = book.line()) last = next;
  EXPECT_EQ(last,
            "1 jobs; 0 modes asked for, 0 granted, 0 limits moved; 2 connections and 4 messages "
            "refused\n");
}

TEST(SharedServersProcess, WhenTheBookDiesItsRunsKeepTheirLimitsAndAreGrantedNothing) {
  Book book;
  Tenant run(book);
  run.report(100);
  ASSERT_EQ(run.ask(), GrantAnswer::Yes);
  book.stop(SIGKILL);
  ASSERT_TRUE(run.until([&] { return run.lost; }));
  EXPECT_EQ(run.line().may({.mode = {.x = 2}, .rate_ratio = 2, .time_saved = 0.5}),
            GrantAnswer::No);
  EXPECT_NEAR(run.limits[4], 0.15, 1e-9);
}

std::vector<std::string> run_on(const Book& book, const std::string& folder) {
  return {"run",     "--model",   "linear",      "--data",       "line", "--batch",
          "4096",    "--rate",    "0.01",        "--workers",    "4",    "--json",
          "--quiet", "--dir",     folder,        "--cores",      "0.1",  "--shard-cores",
          "0.05",    "--servers", book.folder(), "--time-limit", "120s"};
}

json stop(std::future<TestRun>& run, const std::string& folder) {
  std::istringstream words(read_file(folder + "/head").value());
  std::string host;
  int port = 0;
  pid_t pid = 0;
  words >> host >> port >> pid;
  kill(pid, SIGINT);
  const TestRun done = run.get();
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  return json::parse(done.output, nullptr, false);
}

TEST(SharedServersProcess, RunsJoinAskAndLeave) {
  Book book;
  const TestFolder a, b;
  std::ofstream(a.path() + "/slow.txt") << "at 0s server 3 cpu 0.2\n";
  auto with = run_on(book, a.run());
  with.insert(with.end(), {"--mode", "star", "--stragglers", a.path() + "/slow.txt"});
  auto first = std::async(std::launch::async, [&] { return train(with, a.run()); });
  EXPECT_TRUE(book.says("job 1 is ready"));
  auto second =
      std::async(std::launch::async, [&] { return train(run_on(book, b.run()), b.run()); });
  EXPECT_TRUE(book.says("job 2 is ready"));
  EXPECT_TRUE(book.says("job 1 may"));
  const json straggler = stop(first, a.run());
  EXPECT_TRUE(book.says("job 1 left"));
  EXPECT_EQ(straggler["deaths"], 0);
  EXPECT_TRUE(straggler["warnings"].empty());
  book.stop(SIGKILL);
  const json other = stop(second, b.run());
  ASSERT_EQ(other["warnings"].size(), 1u);
  EXPECT_NE(other["warnings"][0].get<std::string>().find("limits stay"), std::string::npos);
}

TEST(SharedServersProcess, ARunThatFindsNoServersSaysWhatToDo) {
  const TestFolder folder;
  const TestRun run = train({"run", "--steps", "10", "--dir", folder.run(), "--data", "line",
                             "--model", "linear", "--cores", "0.1", "--servers", folder.path()},
                            folder.run());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.errors.find("orrery-train servers --dir"), std::string::npos) << run.errors;
}

}  // namespace
}  // namespace orrery
