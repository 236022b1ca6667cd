#include "cloud/local_servers/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cloud/local_servers/server_keeper.h"
#include "live/job_runner/process_table.h"

namespace orrery {

Result<ServerProcess> ServerProcess::start(const ServerProgram& program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("a pipe for a server", errno);
  Fd commands(ends[0]);
  Fd kept(ends[1]);
  Fd log;
  if (!program.log.empty()) {
    log = Fd(::open(program.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!log.ok()) return system_error(program.log, errno);
  }
  const std::array<const char*, 4> arguments{"/bin/sh", "-c", program.script.c_str(), nullptr};
  std::vector<const char*> environment;
  for (const std::string& variable : program.environment) environment.push_back(variable.c_str());
  environment.push_back(nullptr);
  const KeeperPlan plan{
      .arguments = program.script.empty() ? nullptr : arguments.data(),
      .environment = environment.data(),
      .commands = commands.get(),
      .log = log.get(),
      .exit_file = program.exit_file.empty() ? nullptr : program.exit_file.c_str()};
  const pid_t keeper = ::fork();
  if (keeper < 0) return system_error("a process for a server", errno);
  if (keeper == 0) {
    ::close(kept.get());
    keep_server(plan);
  }
  Fd handle = open_process(keeper);
  return ServerProcess(keeper, std::move(handle), std::move(kept));
}

void ServerProcess::terminate() {
  const char command = kTerminate;
  // A keeper that is gone has nothing to terminate.
  [[maybe_unused]] const auto written = ::write(commands_.get(), &command, 1);
}

void ServerProcess::kill() {
  if (keeper_ < 0) return;
  commands_.close();
  while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
  keeper_ = -1;
}

bool ServerProcess::is_gone() const {
  if (keeper_ < 0) return false;
  pollfd ended{.fd = handle_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, 0) == 1;
}

}  // namespace orrery
