#include "training/emulation/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"

extern char** environ;

namespace orrery {
namespace {

// Files in memory, so that no amount of text on either side can block.
Result<Fd> text_file(const std::string& content) {
  Fd fd(::memfd_create("orrery", MFD_CLOEXEC));
  if (!fd.ok()) return system_error("memory file", errno);
  TRY(write_file(fd, "memory file", content));
  if (::lseek(fd.get(), 0, SEEK_SET) < 0) return system_error("memory file", errno);
  return fd;
}

}  // namespace

Result<std::string> run_tool(const std::vector<std::string>& argv, const std::string& input) {
  TRY_ASSIGN(const Fd in, text_file(input));
  TRY_ASSIGN(const Fd out, text_file(""));
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.get(), STDERR_FILENO);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return system_error(argv[0], failed);

  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return system_error(argv[0], errno);
  }
  if (::lseek(out.get(), 0, SEEK_SET) < 0) return system_error(argv[0], errno);
  TRY_ASSIGN(std::string text, read_file(out, argv[0]));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  constexpr std::size_t kShown = 300;
  while (text.ends_with('\n')) text.pop_back();
  if (text.size() > kShown) text.erase(0, text.size() - kShown);
  return Error{Code::FailedPrecondition,
               fmt::format("'{}' failed: {}", fmt::join(argv, " "), text)};
}

}  // namespace orrery
