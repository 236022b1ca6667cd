#include "training/trainer/run_folder/experience.h"

#include <fmt/format.h>

#include "base/files.h"
#include "training/trainer/run_folder/window_log.h"

namespace orrery {
namespace {

// In the words of the flags that make it so.
std::string training_of(const RunOptions& run) {
  const OptimizerOptions& o = run.optimizer;
  return fmt::format("--model {} --data {} --batch {} --optimizer {} --momentum {}",
                     run.learner.model, run.learner.data, run.batch, o.kind, o.momentum);
}

}  // namespace

Result<RunOptions> read_run_options(const std::string& folder) {
  const std::string path = folder + "/run.json";
  TRY_ASSIGN(const std::string text, read_file(path));
  auto options = parse_run_options(text);
  if (!options.ok()) return std::move(options).error().at(path);
  return options;
}

Result<SelectorExperience> read_experience(const std::vector<std::string>& folders,
                                           const RunOptions& like) {
  SelectorExperience all;
  std::size_t windows = 0;
  for (const std::string& folder : folders) {
    TRY_ASSIGN(const RunOptions run, read_run_options(folder));
    if (training_of(run) != training_of(like)) {
      return invalid(fmt::format("{}: was {}, and its windows say nothing of {}; leave it out",
                                 folder, training_of(run), training_of(like)));
    }
    TRY_ASSIGN(all.emplace_back(), read_windows(folder));
    windows += all.back().size();
  }
  if (windows == 0) {
    return invalid("no run has a window; name the --dir of runs under --mode star");
  }
  return all;
}

Result<SelectorStart> selector_start(const RunOptions& options, const TrainPorts& ports) {
  SelectorStart start;
  if (options.mode != "star" || options.selector != "learned") return start;
  if (ports.make_selector) start.regression = ports.make_selector();
  if (options.experience.empty()) return start;
  auto read = read_experience(options.experience, options);
  if (!read.ok()) return std::move(read).error().at("--experience");
  start.experience = std::move(read).value();
  return start;
}

}  // namespace orrery
