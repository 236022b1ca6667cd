#include "experiments/star/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

extern char** environ;  // NOLINT: POSIX's name

namespace orrery {

Result<Program> Program::start(const std::vector<std::string>& command, const std::string& out,
                               const std::string& log) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (out.empty() && pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  Fd output(ends[0]);
  const Fd given(ends[1]);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (out.empty()) {
    posix_spawn_file_actions_adddup2(&files, given.get(), STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), kFlags, 0644);
  }
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(), kFlags, 0644);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return system_error(command[0], failed);
  return Program(pid, Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))), std::move(output));
}

Program::Program(Program&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      watched_(std::move(other.watched_)),
      output_(std::move(other.output_)) {}

Program::~Program() {
  if (pid_ == 0) return;
  signal(SIGKILL);
  static_cast<void>(wait().ok());
}

// Where processes cannot be watched, all there is is to wait.
bool Program::ended_within(int milliseconds) const {
  if (pid_ == 0 || !watched_.ok()) return true;
  pollfd over{.fd = watched_.get(), .events = POLLIN, .revents = 0};
  return poll(&over, 1, milliseconds) > 0;
}

void Program::signal(int number) const {
  if (pid_ > 0) kill(pid_, number);
}

Result<int> Program::wait() {
  int status = 0;
  const pid_t pid = std::exchange(pid_, 0);
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return system_error("waitpid", errno);
  }
  return status;
}

std::string why_it_failed(const std::string& program, int status, const std::string& log) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  const Result<std::string> text = read_file(log);
  std::string_view rest = text.ok() ? std::string_view(text.value()) : "";
  while (!rest.empty() && rest.back() == '\n') rest.remove_suffix(1);
  return fmt::format("{} ended with {}: {}", program,
                     WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                       : fmt::format("signal {}", WTERMSIG(status)),
                     rest.substr(rest.rfind('\n') + 1));
}

}  // namespace orrery
