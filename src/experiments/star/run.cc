#include "experiments/star/run.h"

#include <csignal>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "base/files.h"
#include "experiments/star/program.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr int kLookEvery_ms = 200;

struct Ended {
  int status = 0;
  bool stopped = false;
};

// Runs the program with its output in files, and waits; passes a stop on as SIGINT, once. A
// terminal stops both processes; a stop of this one alone is passed on.
Result<Ended> run_program(const std::vector<std::string>& command, const std::string& folder,
                          const std::atomic<bool>& stop) {
  TRY_ASSIGN(Program program, Program::start(command, folder + "/result.new", folder + "/log.txt"));
  Ended ended;
  while (!program.ended_within(kLookEvery_ms)) {
    if (stop && !std::exchange(ended.stopped, true)) program.signal(SIGINT);
  }
  TRY_ASSIGN(ended.status, program.wait());
  ended.stopped = ended.stopped || stop;
  return ended;
}

Result<RunResult> read_result(const std::string& folder) {
  TRY_ASSIGN(const std::string text, read_file(folder + "/result.json"));
  TRY_ASSIGN(RunResult result, parse_result(text));
  if (const Result<std::string> csv = read_file(folder + "/run/curve.csv"); csv.ok()) {
    TRY_ASSIGN(result.curve, parse_curve(csv.value()));
  }
  return result;
}

Status run_once(const MatrixRun& run, const RunMatrixOptions& options, const std::string& folder,
                const std::atomic<bool>& stop) {
  std::error_code problem;
  fs::remove_all(folder + "/run", problem);
  fs::create_directories(folder, problem);
  if (problem) return system_error(folder, problem.value());
  TRY(write_file_atomically(folder + "/stragglers.txt", run.pattern->script));
  std::vector<std::string> command = run.command(folder);
  command.insert(command.begin(), options.program);
  if (!options.data_folder.empty()) {
    command.insert(command.end(), {"--data-folder", options.data_folder});
  }
  TRY_ASSIGN(const Ended ended, run_program(command, folder, stop));
  if (ended.stopped) return Error{Code::Cancelled, "interrupted"};
  const std::string failed = why_it_failed(options.program, ended.status, folder + "/log.txt");
  if (!failed.empty()) return Error{Code::Internal, failed};
  fs::rename(folder + "/result.new", folder + "/result.json", problem);
  return problem ? system_error(folder, problem.value()) : Status{};
}

Result<RunResult> result_of(const MatrixRun& run, const RunMatrixOptions& options,
                            const std::atomic<bool>& stop) {
  const std::string folder = options.folder + "/" + run.name();
  Result<RunResult> result = read_result(folder);
  for (int tried = 0; tried < options.tries && !stop; ++tried) {
    if (result.ok() && result.value().trusted()) break;
    const Status status = run_once(run, options, folder, stop);
    if (stop) break;
    result = status.ok() ? read_result(folder) : Result<RunResult>(status.error());
  }
  return result;
}

}  // namespace

Result<RunResults> run_matrix(std::span<const MatrixRun> runs, const RunMatrixOptions& options,
                              const std::atomic<bool>& stop,
                              const std::function<void(const MatrixRun&)>& done) {
  RunResults results;
  std::mutex results_mutex;
  std::atomic<std::size_t> next = 0;
  const auto run_next = [&] {
    for (std::size_t i = next++; i < runs.size(); i = next++) {
      const MatrixRun& run = runs[i];
      Result<RunResult> result = result_of(run, options, stop);
      if (!result.ok() && stop) continue;
      RunResult kept;
      if (result.ok()) {
        kept = std::move(result).value();
      } else {
        kept.problem = result.error().message;
      }
      const std::lock_guard lock(results_mutex);
      results.emplace(run.name(), std::move(kept));
      done(run);
    }
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < options.at_once; ++i) others.emplace_back(run_next);
  run_next();
  others.clear();
  return results;
}

}  // namespace orrery
