#include "training/trainer/selector_command.h"

#include "training/trainer/print_listing.h"
#include "training/trainer/run_folder/experience.h"

namespace orrery {
namespace {

using Windows = std::vector<SelectorSample>;

nlohmann::ordered_json json_of(const std::string& run, const SelectorErrors& errors) {
  return {{"run", run},
          {"windows", errors.windows},
          {"regression", errors.regression},
          {"without_mode", errors.modeless},
          {"heuristic", errors.heuristic},
          {"mean", errors.mean}};
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

Status selector_score_command(const SelectorArguments& arguments, const TrainPorts& ports) {
  TRY(check_output(arguments.list));
  const std::vector<std::string>& folders = arguments.folders;
  if (!ports.make_selector) {
    return Error{Code::Unimplemented, "this program has nothing that a selector is made of"};
  }
  TRY_ASSIGN(const RunOptions like, read_run_options(folders.front()));
  TRY_ASSIGN(const SelectorExperience experience, read_experience(folders, like));
  SelectorExperience runs = experience;
  const bool alone = runs.size() == 1;
  if (alone) cut_in_two(runs);
  const auto regression = ports.make_selector();
  constexpr auto kCount = ColumnKind::Count;
  Listing listing{.name = "runs",
                  .columns = {{"run", "run"},
                              {"windows", "windows", kCount},
                              {"regression", "regression", kCount},
                              {"without mode", "without_mode", kCount},
                              {"heuristic", "heuristic", kCount},
                              {"mean", "mean", kCount}}};
  SelectorErrors all;
  for (std::size_t i = alone ? 1 : 0; i < runs.size(); ++i) {
    if (runs[i].empty()) continue;
    const std::string& folder = folders[alone ? 0 : i];
    auto errors = judge_regression(*regression, all_but(runs, i), runs[i]);
    if (!errors.ok()) return std::move(errors).error().at(folder);
    listing.rows.push_back(json_of(folder, errors.value()));
    all = together(all, errors.value());
  }
  listing.rows.push_back(json_of("all", all));
  const SelectorChoice choice(regression.get(), {}, experience);
  listing.summary = explained(choice, experience.size()) + '\n';
  return print_listing(std::move(listing), arguments.list);
}

}  // namespace orrery
