#include "experiments/figures/reproduce_star.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "base/own_program.h"
#include "experiments/runs/output.h"
#include "experiments/runs/progress.h"
#include "experiments/star/run.h"
#include "experiments/star/two_jobs.h"
#include "experiments/star/verdict.h"
#include "report/terminal/interrupt.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

Result<std::string> find_trainer(const std::string& named) {
  const std::string path = named.empty() ? own_program("orrery-train") : named;
  if (access(path.c_str(), X_OK) == 0) return path;
  return invalid(
      fmt::format("{}: there is no such program; build it with `make`, install the package "
                  "orrery-train, or name it by --trainer",
                  path));
}

Status interrupted_with(std::size_t done, std::size_t all, const std::string& folder) {
  if (!interrupted()) return {};
  return Error{Code::Cancelled, fmt::format("interrupted: {} of {} runs are in {}; the same "
                                            "command goes on with the others",
                                            done, all, folder)};
}

Status reproduce_two_jobs(const ReproduceArguments& arguments) {
  const std::vector<TwoJobsRun> runs = two_jobs_runs(arguments.seeds, arguments.only);
  if (runs.empty()) {
    return invalid(fmt::format("--only {}: no run has this in its name; they are called like {}",
                               arguments.only, "two-jobs-with-s1"));
  }
  TRY_ASSIGN(const std::string trainer, find_trainer(arguments.trainer));
  catch_interrupts();
  std::atomic<std::int64_t> done = 0;
  TwoJobsResults results;
  {
    const ProgressBar bar("training", std::ssize(runs), done, !arguments.quiet);
    TRY_ASSIGN(
        results,
        run_two_jobs(runs,
                     {.program = trainer, .folder = arguments.out, .data_folder = arguments.data},
                     interrupted(), [&] { ++done; }));
  }
  const TwoJobsVerdict verdict = judge_two_jobs(runs, results);
  TRY(print_text(arguments.json ? two_jobs_json(verdict) : two_jobs_text(verdict)));
  return interrupted_with(results.size(), runs.size(), arguments.out);
}

}  // namespace

Status reproduce_star(const ReproduceArguments& arguments) {
  if (arguments.figure == "two-jobs") return reproduce_two_jobs(arguments);
  TRY_ASSIGN(
      const std::vector<MatrixRun> runs,
      choose_runs({.figure = arguments.figure, .only = arguments.only, .seeds = arguments.seeds}));
  TRY_ASSIGN(const std::string trainer, find_trainer(arguments.trainer));
  catch_interrupts();
  std::atomic<std::int64_t> done = 0;
  RunResults results;
  {
    const ProgressBar bar("training", std::ssize(runs), done, !arguments.quiet);
    TRY_ASSIGN(results, run_matrix(runs,
                                   {.program = trainer,
                                    .folder = arguments.out,
                                    .data_folder = arguments.data,
                                    .at_once = std::max(1, arguments.threads)},
                                   interrupted(), [&](const MatrixRun&) { ++done; }));
  }
  const std::vector<CellVerdict> cells = judge_matrix(runs, results);
  TRY(print_text(arguments.json ? matrix_json(cells) : matrix_text(cells)));
  if (!arguments.report.empty()) {
    TRY(write_output(arguments.report, matrix_page(cells, runs, results)));
  }
  return interrupted_with(results.size(), runs.size(), arguments.out);
}

}  // namespace orrery
