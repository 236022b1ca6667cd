#include "system/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(30);

using Pipe = std::array<int, 2>;

Pipe make_pipe() {
  Pipe ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  return ends;
}

[[noreturn]] void exec_orrery(const std::vector<std::string>& arguments,
                              const ProcessOptions& options, int out, int err) {
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
  if (!options.out_file.empty()) out = open(options.out_file.c_str(), O_WRONLY | O_CLOEXEC);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
      dup2(err, STDERR_FILENO) < 0) {
    _exit(126);
  }
  std::vector<std::string> words = orrery_words(arguments, options.login);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  _exit(127);
}

// Appends what there is to read; false at the end of the stream.
bool read_some(int from, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t size = read(from, buffer.data(), buffer.size());
  if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
  return size > 0;
}

class Watch {
 public:
  Watch(pid_t child, const ProcessOptions& options) : child_(child), options_(options) {}

  Finished until_end(int out, int err) {
    std::array<pollfd, 2> streams = {{{out, POLLIN, 0}, {err, POLLIN, 0}}};
    bool killed = false;
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
      if (!killed && Clock::now() - begin_ > kPatience) {
        kill(child_, SIGKILL);
        killed = true;
      }
      poll(streams.data(), streams.size(), 100);
      if (streams[0].revents != 0 && !read_some(out, finished_.out)) streams[0].fd = -1;
      if (streams[1].revents != 0 && !read_some(err, finished_.err)) streams[1].fd = -1;
      maybe_interrupt();
    }
    int status = 0;
    waitpid(child_, &status, 0);
    finished_.took = Clock::now() - begin_;
    if (WIFEXITED(status)) finished_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) finished_.signal = WTERMSIG(status);
    return std::move(finished_);
  }

 private:
  void maybe_interrupt() {
    if (interrupted_ || options_.interrupt_at.empty()) return;
    if (finished_.err.find(options_.interrupt_at) == std::string::npos) return;
    kill(child_, SIGINT);
    interrupted_ = true;
    begin_ = Clock::now();
  }

  const pid_t child_;
  const ProcessOptions& options_;
  Clock::time_point begin_ = Clock::now();
  bool interrupted_ = false;
  Finished finished_;
};

}  // namespace

std::vector<std::string> orrery_words(const std::vector<std::string>& arguments,
                                      const std::string& login) {
  std::vector<std::string> words;
  if (!login.empty()) {
    words = {"setpriv", "--reuid=" + login, "--regid=" + login, "--init-groups", "--reset-env"};
  }
  words.push_back(ORRERY_BINARY);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Finished run_orrery(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  const Pipe out = make_pipe();
  const Pipe err = make_pipe();
  // No process may hold the reading end when the child begins to write.
  if (options.out_closed) close(out[0]);
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) exec_orrery(arguments, options, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  const int readable = options.out_closed ? -1 : out[0];
  Finished finished = Watch(child, options).until_end(readable, err[0]);
  if (readable >= 0) close(readable);
  close(err[0]);
  return finished;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

}  // namespace orrery
