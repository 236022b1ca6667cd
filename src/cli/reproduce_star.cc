#include "cli/reproduce_star.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "trials/run.h"
#include "trials/verdict.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

// The trainer lies beside this program.
Result<std::string> find_trainer(const std::string& named) {
  std::error_code problem;
  const fs::path path =
      named.empty() ? fs::read_symlink("/proc/self/exe", problem).parent_path() / "orrery-train"
                    : fs::path(named);
  if (access(path.c_str(), X_OK) == 0) return path.string();
  return invalid(
      fmt::format("{}: there is no such program; build it with `make`, or name it by "
                  "--trainer",
                  path.string()));
}

}  // namespace

Status reproduce_star(const ReproduceArguments& arguments) {
  TRY_ASSIGN(const std::vector<Trial> trials,
             choose_trials(
                 {.figure = arguments.figure, .only = arguments.only, .seeds = arguments.seeds}));
  TRY_ASSIGN(const std::string trainer, find_trainer(arguments.trainer));
  catch_interrupts();
  std::atomic<std::int64_t> done = 0;
  TrialResults results;
  {
    const ProgressBar bar("training", std::ssize(trials), done, !arguments.quiet);
    TRY_ASSIGN(results, run_trials(trials,
                                   {.program = trainer,
                                    .folder = arguments.out,
                                    .data_folder = arguments.data,
                                    .at_once = std::max(1, arguments.threads)},
                                   interrupted(), [&](const Trial&) { ++done; }));
  }
  const std::vector<CellVerdict> cells = judge_trials(trials, results);
  TRY(print_text(arguments.json ? trials_json(cells) : trials_text(cells)));
  if (!arguments.report.empty()) {
    TRY(write_file(arguments.report, trials_page(cells, trials, results)));
  }
  if (interrupted()) {
    return Error{Code::Cancelled, fmt::format("interrupted: {} of {} runs are in {}; the same "
                                              "command goes on with the others",
                                              results.size(), trials.size(), arguments.out)};
  }
  return {};
}

}  // namespace orrery
