#include "trials/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "base/files.h"

extern char** environ;  // NOLINT: POSIX's name

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr int kLookEvery_ms = 200;

struct Ended {
  int status = 0;
  bool stopped = false;
};

// Runs the program with its output in files, and waits; passes a stop on as SIGINT, once.
Result<Ended> run_program(const std::vector<std::string>& command, const std::string& folder,
                          const std::atomic<bool>& stop) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const std::string out = folder + "/result.new", log = folder + "/log.txt";
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), kFlags, 0644);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(), kFlags, 0644);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return system_error(command[0], failed);
  Ended ended;
  // Whoever is told to stop alone passes it on; a terminal tells both.
  const Fd watched(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  pollfd over{.fd = watched.get(), .events = POLLIN, .revents = 0};
  while (watched.ok() && poll(&over, 1, kLookEvery_ms) <= 0) {
    if (stop && !std::exchange(ended.stopped, true)) kill(pid, SIGINT);
  }
  while (waitpid(pid, &ended.status, 0) < 0) {
    if (errno != EINTR) return system_error("waitpid", errno);
  }
  ended.stopped = ended.stopped || stop;
  return ended;
}

std::string last_line(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text.ok()) return "";
  std::string_view rest = text.value();
  while (!rest.empty() && rest.back() == '\n') rest.remove_suffix(1);
  return std::string(rest.substr(rest.rfind('\n') + 1));
}

Result<TrialResult> read_result(const std::string& folder) {
  TRY_ASSIGN(const std::string text, read_file(folder + "/result.json"));
  TRY_ASSIGN(TrialResult result, parse_trial(text));
  if (const Result<std::string> csv = read_file(folder + "/run/curve.csv"); csv.ok()) {
    TRY_ASSIGN(result.curve, parse_curve(csv.value()));
  }
  return result;
}

Status run_once(const Trial& trial, const RunTrialsOptions& options, const std::string& folder,
                const std::atomic<bool>& stop) {
  std::error_code problem;
  fs::remove_all(folder + "/run", problem);
  fs::create_directories(folder, problem);
  if (problem) return system_error(folder, problem.value());
  TRY(write_file_atomically(folder + "/stragglers.txt", trial.pattern->script));
  std::vector<std::string> command = trial.command(folder);
  command.insert(command.begin(), options.program);
  if (!options.data_folder.empty()) {
    command.insert(command.end(), {"--data-folder", options.data_folder});
  }
  TRY_ASSIGN(const Ended ended, run_program(command, folder, stop));
  if (ended.stopped) return Error{Code::Cancelled, "interrupted"};
  if (!WIFEXITED(ended.status) || WEXITSTATUS(ended.status) != 0) {
    return Error{
        Code::Internal,
        fmt::format("{} ended with {}: {}", options.program,
                    WIFEXITED(ended.status) ? fmt::format("exit code {}", WEXITSTATUS(ended.status))
                                            : fmt::format("signal {}", WTERMSIG(ended.status)),
                    last_line(folder + "/log.txt"))};
  }
  fs::rename(folder + "/result.new", folder + "/result.json", problem);
  return problem ? system_error(folder, problem.value()) : Status{};
}

Result<TrialResult> result_of(const Trial& trial, const RunTrialsOptions& options,
                              const std::atomic<bool>& stop) {
  const std::string folder = options.folder + "/" + trial.name();
  Result<TrialResult> result = read_result(folder);
  for (int tried = 0; tried < options.tries && !stop; ++tried) {
    if (result.ok() && result.value().trusted) break;
    const Status status = run_once(trial, options, folder, stop);
    if (stop) break;
    result = status.ok() ? read_result(folder) : Result<TrialResult>(status.error());
  }
  return result;
}

}  // namespace

Result<TrialResults> run_trials(std::span<const Trial> trials, const RunTrialsOptions& options,
                                const std::atomic<bool>& stop,
                                const std::function<void(const Trial&)>& done) {
  TrialResults results;
  std::mutex results_mutex;
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < trials.size(); i = next++) {
      const Trial& trial = trials[i];
      Result<TrialResult> result = result_of(trial, options, stop);
      if (!result.ok() && stop) continue;
      TrialResult kept;
      if (result.ok()) {
        kept = std::move(result).value();
      } else {
        kept.problem = result.error().message;
      }
      const std::lock_guard lock(results_mutex);
      results.emplace(trial.name(), std::move(kept));
      done(trial);
    }
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < options.at_once; ++i) others.emplace_back(take_turns);
  take_turns();
  others.clear();
  return results;
}

}  // namespace orrery
