#include "cloud/local_servers/server_keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>

namespace orrery {
namespace {

constexpr int kCommands = 3;
constexpr int kLog = 4;

// Puts the two descriptors at their places, whichever of them stands in the way.
void arrange(const KeeperPlan& plan) {
  const int commands = ::fcntl(plan.commands, F_DUPFD, kLog + 1);
  const int log = plan.log < 0 ? -1 : ::fcntl(plan.log, F_DUPFD, kLog + 1);
  ::dup2(commands, kCommands);
  if (log >= 0) {
    ::dup2(log, kLog);
  } else {
    ::close(kLog);
  }
  // Files and sockets of the process that made the server are not the server's.
  ::syscall(SYS_close_range, kLog + 1, ~0U, 0);
}

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
  }
}

void allow_all_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

pid_t start_script(const KeeperPlan& plan) {
  if (plan.arguments == nullptr) return -1;
  const pid_t script = ::fork();
  if (script != 0) return script;
  ::setpgid(0, 0);
  // For a keeper that is killed itself; its own end kills the script otherwise.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  const int output = ::fcntl(kLog, F_GETFD) >= 0 ? kLog : nothing;
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::syscall(SYS_close_range, kCommands, ~0U, 0);
  allow_all_signals();
  ::execve(plan.arguments[0], const_cast<char* const*>(plan.arguments),
           const_cast<char* const*>(plan.environment));
  ::_exit(127);
}

void write_number(const char* path, int number) {
  if (path == nullptr) return;
  char digits[16];
  std::size_t at = sizeof(digits);
  digits[--at] = '\n';
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, digits + at, sizeof(digits) - at);
  ::close(file);
}

// Takes in the ends of children. True while there are any.
bool reap(pid_t script, const char* exit_file, int options) {
  while (true) {
    int status = 0;
    const pid_t child = ::waitpid(-1, &status, options);
    if (child == script && child > 0) write_number(exit_file, status);
    if (child == 0) return true;
    if (child < 0 && errno != EINTR) return false;
    if (child > 0 && options == 0) return true;
  }
}

// A child's children become this process's own when it dies, so this ends.
void kill_all_children() {
  char path[] = "/proc/thread-self/children";
  char text[4096];
  while (true) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : ::read(file, text, sizeof(text) - 1);
    if (file >= 0) ::close(file);
    pid_t pid = 0;
    for (ssize_t i = 0; i < size; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        pid = pid * 10 + (text[i] - '0');
      } else if (pid > 0) {
        ::kill(pid, SIGKILL);
        pid = 0;
      }
    }
    if (!reap(-1, nullptr, 0)) return;
  }
}

void notice_child(int /*signal*/) {}

}  // namespace

void keep_server(const KeeperPlan& plan) {
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  arrange(plan);
  reset_signals();
  const pid_t script = start_script(plan);
  ::signal(SIGCHLD, notice_child);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  sigset_t mask;
  ::sigfillset(&mask);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::sigdelset(&mask, SIGCHLD);
  while (true) {
    pollfd commands{.fd = kCommands, .events = POLLIN, .revents = 0};
    // Between this reaping and ppoll() SIGCHLD is blocked, so none is missed.
    reap(script, plan.exit_file, WNOHANG);
    if (::ppoll(&commands, 1, nullptr, &mask) < 0) continue;
    char command = 0;
    const ssize_t size = ::read(kCommands, &command, 1);
    if (size == 1 && command == kTerminate) {
      if (script > 0) ::kill(-script, SIGTERM);
    } else if (size >= 0 || errno != EINTR) {
      break;
    }
  }
  kill_all_children();
  ::_exit(0);
}

}  // namespace orrery
