#include "live/job_runner/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "live/job_runner/process_table.h"
#include "live/job_runner/supervisor.h"

extern char** environ;

namespace orrery {
namespace {

constexpr std::size_t kMessageMost = 8192;

// What was there before it was raised.
std::optional<rlimit>& usual_open_files() {
  static std::optional<rlimit> usual;
  return usual;
}

// One message, with one descriptor or none.
bool send_message(int socket, std::string_view bytes, int fd) {
  iovec part{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

// Empty where the other end is closed.
std::string receive_message(int socket, Fd& fd) {
  std::string bytes(kMessageMost, '\0');
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (got > 0 && header && header->cmsg_type == SCM_RIGHTS) {
    int given = -1;
    std::memcpy(&given, CMSG_DATA(header), sizeof given);
    fd = Fd(given);
  }
  return bytes;
}

// In the forked process: as if it had been spawned by itself.
[[noreturn]] void exec_supervisor(const std::string& request, const Fd& ready,
                                  int (*supervise)(const std::string&, const std::string&)) {
  ::setsid();
  ::dup2(ready.get(), kReadyFd);
  const std::size_t zero = request.find('\0');
  ::_exit(supervise(request.substr(0, zero), request.substr(zero + 1)));
}

}  // namespace

Result<pid_t> spawn_supervisor(const std::string& program, std::vector<std::string> arguments,
                               int inherited) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  sigset_t held;
  sigset_t all;
  sigemptyset(&held);
  sigaddset(&held, SIGCHLD);
  sigaddset(&held, SIGTERM);
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  sigdelset(&all, SIGSTOP);
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &held);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawn_file_actions_adddup2(&files, inherited, kReadyFd);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int failed =
      ::posix_spawn(&pid, program.c_str(), &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return system_error(program, failed);
  if (const auto& usual = usual_open_files()) {
    // Programs that use select() fail with descriptors beyond its 1024.
    ::prlimit(pid, RLIMIT_NOFILE, &*usual, nullptr);
  }
  return pid;
}

void raise_open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  const rlimit usual = limit;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) usual_open_files() = usual;
}

Result<std::unique_ptr<ForkServer>> ForkServer::start(const std::string& program) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return system_error("socketpair", errno);
  }
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  TRY_ASSIGN(const pid_t pid, spawn_supervisor(program, fork_server_arguments(), theirs.get()));
  return std::unique_ptr<ForkServer>(new ForkServer(pid, std::move(ours)));
}

ForkServer::~ForkServer() {
  socket_.close();
  ::waitpid(pid_, nullptr, 0);
}

Result<Fd> ForkServer::supervise(const std::string& state, const std::string& name,
                                 int ready) const {
  const std::string request = state + '\0' + name;
  Fd supervisor;
  if (request.size() > kMessageMost || !send_message(socket_.get(), request, ready) ||
      receive_message(socket_.get(), supervisor).empty() || !supervisor.ok()) {
    return Error{Code::Unavailable, "the process that starts supervisors does not answer"};
  }
  return supervisor;
}

int serve_forks(int (*supervise)(const std::string& state, const std::string& name)) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  const Fd ended(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  while (true) {
    pollfd waited[] = {{.fd = kReadyFd, .events = POLLIN, .revents = 0},
                       {.fd = ended.get(), .events = POLLIN, .revents = 0}};
    if (::poll(waited, 2, -1) < 0) continue;
    if (waited[1].revents != 0) {
      signalfd_siginfo ignored{};
      static_cast<void>(!::read(ended.get(), &ignored, sizeof ignored));
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
    }
    if (waited[0].revents == 0) continue;
    Fd ready;
    const std::string request = receive_message(kReadyFd, ready);
    if (request.empty()) return 0;
    const pid_t pid = ::fork();
    if (pid == 0) exec_supervisor(request, ready, supervise);
    // A child that was not waited for keeps its number, so this is the right one.
    const Fd process = pid > 0 ? open_process(pid) : Fd();
    if (!send_message(kReadyFd, process.ok() ? "y" : "n", process.get())) return 0;
  }
}

}  // namespace orrery
