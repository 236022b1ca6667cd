// What a run reports to the scheduler.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files.h"
#include "training/trainer/test_run.h"

namespace orrery {
namespace {

using nlohmann::json;

// An agent that welcomes one job, asks nothing of it and notes every line.
class ListeningAgent {
 public:
  explicit ListeningAgent(const std::string& path)
      : listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 1), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~ListeningAgent() { join(); }
  ListeningAgent(const ListeningAgent&) = delete;
  ListeningAgent& operator=(const ListeningAgent&) = delete;

  // After the job has ended.
  std::vector<json> said() {
    join();
    std::vector<json> lines;
    for (std::size_t at = 0, end = 0; (end = text_.find('\n', at)) != std::string::npos;
         at = end + 1) {
      lines.push_back(json::parse(text_.substr(at, end - at)));
    }
    return lines;
  }

 private:
  void join() {
    shutdown(listener_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }
  void serve() {
    const Fd job(accept(listener_.get(), nullptr, nullptr));
    if (!job.ok()) return;
    const std::string welcome =
        R"({"kind":"welcome","version":1,"checkpoint_dir":"","epoch":1,"ranks":1,"resume":false})"
        "\n";
    if (send(job.get(), welcome.data(), welcome.size(), MSG_NOSIGNAL) < 0) return;
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(job.get(), buffer, sizeof buffer, 0)) > 0;) {
      text_.append(buffer, static_cast<std::size_t>(got));
    }
  }

  Fd listener_;
  std::thread thread_{};
  std::string text_{};
};

std::vector<json> said_by_run(const TestFolder& folder, const std::vector<std::string>& more) {
  const std::string socket = folder.path() + "/socket";
  ListeningAgent agent(socket);
  setenv("ORRERY_SOCKET", socket.c_str(), 1);
  const Outcome outcome = run_in(folder.run(), more);
  unsetenv("ORRERY_SOCKET");
  EXPECT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  return agent.said();
}

class ReportedProgress : public testing::TestWithParam<const char*> {};

TEST_P(ReportedProgress, CountsBatchesOfSamplesInEveryMode) {
  const TestFolder folder;
  const auto said = said_by_run(folder, {"--mode", GetParam(), "--steps", "400"});
  json last;
  std::int64_t saved = 0;
  for (const json& line : said) {
    if (line["kind"] == "progress") last = line;
    if (line["kind"] == "checkpointed") saved = line["iteration"];
  }
  // 400 gradients of 4 workers are 100 batches, however many updates they were.
  EXPECT_EQ(last["iteration"], 100) << last;
  EXPECT_EQ(last["of"], 100) << last;
  EXPECT_GE(last["samples"], 6400) << last;
  EXPECT_LT(last["samples"], 6400 + 64) << "the last update may go beyond";
  EXPECT_TRUE(last["loss"].is_number()) << last;
  EXPECT_EQ(saved, 100);
}

INSTANTIATE_TEST_SUITE_P(Modes, ReportedProgress, testing::Values("ssgd", "asgd", "static-3"));

}  // namespace
}  // namespace orrery
