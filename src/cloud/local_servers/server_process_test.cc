#include "cloud/local_servers/server_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/test_folder.h"
#include "live/job_runner/process_table.h"

namespace orrery {
namespace {

constexpr int kPatienceMs = 20'000;

bool ends(pid_t pid) {
  const Fd process = open_process(pid);
  if (!process.ok()) return true;
  pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, kPatienceMs) == 1;
}

// A script writes its processes' numbers into a named pipe, which the test reads: nothing here
// depends on how long that takes.
class ServerProcessTest : public ::testing::Test {
 protected:
  ServerProcessTest() { EXPECT_EQ(::mkfifo(pipe_.c_str(), 0600), 0); }

  ServerProgram program(const std::string& script) const {
    return {.script = script,
            .environment = {"PATH=/usr/bin:/bin", "OUT=" + pipe_},
            .log = folder_.path() + "/log",
            .exit_file = folder_.path() + "/exit"};
  }
  std::vector<pid_t> read_pids() const {
    const Fd from(::open(pipe_.c_str(), O_RDONLY));
    const auto text = read_file(from, pipe_);
    std::istringstream words(text.ok() ? text.value() : "");
    std::vector<pid_t> pids;
    for (pid_t pid = 0; words >> pid;) pids.push_back(pid);
    return pids;
  }

  const TestFolder folder_;
  const std::string pipe_ = folder_.path() + "/pipe";
};

// A child, one in a session of its own, and one whose parent has gone.
constexpr const char* kFamily =
    "sleep 1000 & a=$!\n"
    "setsid sleep 1000 & b=$!\n"
    "c=$(sh -c 'setsid sleep 1000 >/dev/null 2>&1 & echo $!')\n"
    "trap '' TERM\n"
    "echo $$ $a $b $c >$OUT\n"
    "sleep 1000\n";

TEST_F(ServerProcessTest, AKillLeavesNoProcessOfTheServer) {
  auto server = ServerProcess::start(program(kFamily));
  ASSERT_TRUE(server.ok()) << server.error().message;
  const auto pids = read_pids();
  ASSERT_EQ(pids.size(), 4U);
  ServerProcess running = std::move(server).value();
  running.kill();
  for (const pid_t pid : pids) EXPECT_EQ(process_start(pid), 0) << pid << " is left";
}

TEST_F(ServerProcessTest, NothingOutlivesAProviderThatIsKilled) {
  const ServerProgram family = program(kFamily);
  const pid_t provider = ::fork();
  if (provider == 0) {
    const auto server = ServerProcess::start(family);
    while (server.ok()) ::pause();
    ::_exit(1);
  }
  const auto pids = read_pids();
  ASSERT_EQ(pids.size(), 4U);
  ::kill(provider, SIGKILL);
  ::waitpid(provider, nullptr, 0);
  for (const pid_t pid : pids) EXPECT_TRUE(ends(pid)) << pid;
}

TEST_F(ServerProcessTest, ANoticeIsASigtermToTheScript) {
  auto started = ServerProcess::start(program(
      "trap 'echo 7 >$OUT; exit 3' TERM; echo 1 >$OUT; while :; do sleep 1000 & wait; done"));
  ASSERT_TRUE(started.ok());
  ServerProcess server = std::move(started).value();
  EXPECT_EQ(read_pids(), std::vector<pid_t>{1});
  server.terminate();
  EXPECT_EQ(read_pids(), std::vector<pid_t>{7});
  EXPECT_FALSE(server.is_gone()) << "a machine outlives its program";
  server.kill();
}

TEST_F(ServerProcessTest, TheScriptGetsItsEnvironmentAndItsLogAndNoForeignFiles) {
  const Fd null(::open("/dev/null", O_RDONLY));
  const Fd foreign(::fcntl(null.get(), F_DUPFD, 100));  // not closed on exec
  ASSERT_TRUE(foreign.ok());
  auto started = ServerProcess::start(
      program("echo hello $GREETING; ls /proc/$$/fd >$OUT; echo to-error >&2"));
  ASSERT_TRUE(started.ok());
  const auto files = read_pids();  // below 100 are the shell's own
  ASSERT_GE(files.size(), 3U);
  EXPECT_LT(std::ranges::max(files), 100);
}

TEST_F(ServerProcessTest, AServerWithoutAScriptIsAMachineThatDoesNothing) {
  auto started = ServerProcess::start(program(""));
  ASSERT_TRUE(started.ok());
  ServerProcess server = std::move(started).value();
  server.terminate();
  EXPECT_FALSE(server.is_gone());
  server.kill();
}

}  // namespace
}  // namespace orrery
