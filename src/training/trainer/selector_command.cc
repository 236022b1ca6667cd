#include "training/trainer/selector_command.h"

#include <fmt/format.h>

#include <cstdio>

#include "training/trainer/run_folder/experience.h"

namespace orrery {
namespace {

using Windows = std::vector<SelectorSample>;

void print_errors(const std::string& name, std::size_t width, const SelectorErrors& errors) {
  std::puts(fmt::format("{:<{}}  {:>7}  {:>10.4g}  {:>12.4g}  {:>9.4g}  {:>9.4g}", name, width,
                        errors.windows, errors.regression, errors.modeless, errors.heuristic,
                        errors.mean)
                .c_str());
}

Windows all_but(const SelectorExperience& runs, std::size_t left_out) {
  Windows all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i != left_out) all.insert(all.end(), runs[i].begin(), runs[i].end());
  }
  return all;
}

// Of one run there are no others: its beginning stands in for them.
void cut_in_two(SelectorExperience& runs) {
  Windows& older = runs.front();
  const auto at = older.begin() + static_cast<std::ptrdiff_t>(older.size() - older.size() / 4);
  Windows newer(at, older.end());
  older.erase(at, older.end());
  runs.push_back(std::move(newer));
}

}  // namespace

Status selector_score_command(const std::vector<std::string>& folders, const TrainPorts& ports) {
  if (!ports.make_selector) {
    return Error{Code::Unimplemented, "this program has nothing that a selector is made of"};
  }
  TRY_ASSIGN(const RunOptions like, read_run_options(folders.front()));
  TRY_ASSIGN(const SelectorExperience experience, read_experience(folders, like));
  SelectorExperience runs = experience;
  const bool alone = runs.size() == 1;
  if (alone) cut_in_two(runs);
  const auto regression = ports.make_selector();
  std::size_t width = 3;
  for (const std::string& folder : folders) width = std::max(width, folder.size());
  std::puts(
      fmt::format("{:<{}}  windows  regression  without mode  heuristic       mean", "run", width)
          .c_str());
  SelectorErrors all;
  for (std::size_t i = alone ? 1 : 0; i < runs.size(); ++i) {
    if (runs[i].empty()) continue;
    const std::string& folder = folders[alone ? 0 : i];
    auto errors = judge_regression(*regression, all_but(runs, i), runs[i]);
    if (!errors.ok()) return std::move(errors).error().at(folder);
    print_errors(folder, width, errors.value());
    all = together(all, errors.value());
  }
  print_errors("all", width, all);
  const SelectorChoice choice(regression.get(), {}, experience);
  std::puts(explained(choice, experience.size()).c_str());
  return {};
}

}  // namespace orrery
