#include "training/trainer/head/children.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"

namespace orrery {
namespace {

struct Pipe {
  Fd out{}, in{};
};

Result<Pipe> make_pipe() {
  int ends[2] = {};
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  return Pipe{.out = Fd(ends[0]), .in = Fd(ends[1])};
}

// Between fork and exec only what is safe there may be called: the process has threads.
[[noreturn]] void exec_child(char* const* command, int input, int go, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A signal for the group of the head is for the head alone; it ends its children itself.
  setpgid(0, 0);
  char byte = 0;
  const bool allowed = read(go, &byte, 1) == 1;
  if (!allowed || getppid() != parent || dup2(input, STDIN_FILENO) < 0) _exit(127);
  // What it prints is no part of the head's answer.
  dup2(STDERR_FILENO, STDOUT_FILENO);
  // Libraries open files that they forget to close; a socket that lives on here is never closed.
  syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(command[0], command);
  _exit(127);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was killed by signal {}", WTERMSIG(status));
  return fmt::format("ended with {}", WEXITSTATUS(status));
}

}  // namespace

Children::Children(boost::asio::io_context& io, OnEnd on_end)
    : ends_(io, SIGCHLD), on_end_(std::move(on_end)) {
  watch();
}

Children::~Children() { clear(); }

void Children::watch() {
  ends_.async_wait([this](const boost::system::error_code& error, int) {
    if (error) return;
    reap();
    watch();
  });
}

void Children::reap() {
  std::vector<std::pair<pid_t, int>> ended;
  for (const pid_t child : running_) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) ended.emplace_back(child, status);
  }
  for (const auto& [child, status] : ended) running_.erase(child);
  for (const auto& [child, status] : ended) on_end_(child, how_it_ended(status));
}

Result<pid_t> Children::start(const ChildStart& start) {
  TRY_ASSIGN(Pipe input, make_pipe());
  TRY_ASSIGN(Pipe go, make_pipe());
  std::vector<char*> command;
  for (const std::string& word : start.command) command.push_back(const_cast<char*>(word.c_str()));
  command.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return system_error("fork", errno);
  if (child == 0) exec_child(command.data(), input.out.get(), go.out.get(), parent);
  running_.insert(child);
  if (start.before) {
    if (auto done = start.before(child); !done.ok()) {
      kill(child);
      return std::move(done).error();
    }
  }
  TRY(write_file(go.in, "a pipe", "g"));
  TRY(write_file(input.in, "a pipe", start.input));
  return child;
}

void Children::kill(pid_t child) {
  if (running_.contains(child)) ::kill(child, SIGKILL);
}

void Children::clear() {
  for (const pid_t child : running_) ::kill(child, SIGKILL);
  for (const pid_t child : running_) waitpid(child, nullptr, 0);
  running_.clear();
}

std::string own_program() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "orrery-train";
}

}  // namespace orrery
