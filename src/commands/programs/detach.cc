#include "commands/programs/detach.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/files.h"

namespace orrery {
namespace {

// What the child writes: one byte, kReady or the code of its error, and the error's message.
constexpr char kReady = '+';

void write_all(int to, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t now = ::write(to, text.data() + done, text.size() - done);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return;  // the caller's process is gone
    done += static_cast<std::size_t>(now);
  }
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t now = ::read(from, piece.data(), piece.size());
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(now));
  }
}

void redirect_streams(const std::string& log) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (out < 0) out = ::dup(nothing);
  std::fflush(nullptr);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::close(nothing);
  ::close(out);
}

[[noreturn]] void run_child(int answer, const std::function<std::string()>& log,
                            const std::function<Status(const std::function<void()>& ready)>& body) {
  ::setsid();
  bool is_ready = false;
  const Status done = body([&] {
    redirect_streams(log());
    write_all(answer, std::string(1, kReady));
    ::close(answer);
    is_ready = true;
  });
  if (!done.ok() && !is_ready) {
    write_all(answer,
              static_cast<char>('A' + static_cast<int>(done.error().code)) + done.error().message);
  }
  if (!done.ok() && is_ready) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  std::fflush(nullptr);
  ::_exit(done.ok() ? EXIT_SUCCESS : EXIT_FAILURE);
}

}  // namespace

Status run_detached(const std::function<std::string()>& log,
                    const std::function<Status(const std::function<void()>& ready)>& body) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("a pipe", errno);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    const int problem = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return system_error("a process in the background", problem);
  }
  if (child == 0) {
    ::close(ends[0]);
    run_child(ends[1], log, body);
  }
  ::close(ends[1]);
  const std::string answer = read_all(ends[0]);
  ::close(ends[0]);
  if (!answer.empty() && answer.front() == kReady) return {};
  if (answer.empty()) return Error{Code::Internal, "the process in the background ended at once"};
  return Error{static_cast<Code>(answer.front() - 'A'), answer.substr(1)};
}

}  // namespace orrery
