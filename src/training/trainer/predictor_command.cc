#include "training/trainer/predictor_command.h"

#include <fmt/format.h>

#include "training/mode_selection/stragglers/predictor_score.h"
#include "training/trainer/print_listing.h"
#include "training/trainer/run_folder/iteration_log.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;
using Runs = std::vector<std::vector<IterationHistory>>;

Result<Runs> read_runs(const std::vector<std::string>& folders) {
  Runs runs;
  for (const std::string& folder : folders) {
    TRY_ASSIGN(auto series, read_iterations(folder));
    if (series.empty()) return invalid(fmt::format("{}: no worker did a task in this run", folder));
    runs.push_back(std::move(series));
  }
  return runs;
}

// The end of every series, with as much before it as predictors look at.
std::vector<IterationHistory> ends_of(const std::vector<IterationHistory>& run, double share) {
  constexpr std::size_t kBefore = 30;
  std::vector<IterationHistory> ends;
  for (const IterationHistory& history : run) {
    const auto kept =
        static_cast<std::size_t>(share * static_cast<double>(history.samples.size())) + kBefore;
    const std::size_t from = history.samples.size() - std::min(kept, history.samples.size());
    IterationHistory& end = ends.emplace_back();
    end.worker = history.worker;
    end.samples.assign(history.samples.begin() + static_cast<std::ptrdiff_t>(from),
                       history.samples.end());
  }
  return ends;
}

void add(PredictorScore& sum, const PredictorScore& more) {
  const auto mean = [&](double a, std::int64_t n, double b, std::int64_t m) {
    return n + m == 0 ? 0
                      : (a * static_cast<double>(n) + b * static_cast<double>(m)) /
                            static_cast<double>(n + m);
  };
  sum.error = mean(sum.error, sum.predicted, more.error, more.predicted);
  sum.lead_iterations = mean(sum.lead_iterations, sum.onsets, more.lead_iterations, more.onsets);
  sum.name = more.name;
  sum.predicted += more.predicted;
  sum.true_positives += more.true_positives;
  sum.false_positives += more.false_positives;
  sum.false_negatives += more.false_negatives;
  sum.onsets += more.onsets;
}

Json json_of(const PredictorScore& score) {
  return {{"predictor", score.name},        {"error", score.error},
          {"precision", score.precision()}, {"recall", score.recall()},
          {"onsets", score.onsets},         {"lead_iterations", score.lead_iterations},
          {"predictions", score.predicted}};
}

Status print_scores(const Runs& runs, const PredictorArguments& arguments,
                    IterationPredictor* learned) {
  const auto last = make_last_value_predictor();
  const auto ewma = make_ewma_predictor();
  const auto ar = make_ar_predictor();
  std::vector<IterationPredictor*> predictors = {last.get(), ewma.get(), ar.get()};
  if (learned != nullptr) predictors.push_back(learned);
  std::vector<PredictorScore> sums(predictors.size());
  for (const auto& run : runs) {
    const auto scores = score_predictors(ends_of(run, arguments.held_out), predictors);
    for (std::size_t i = 0; i < scores.size(); ++i) add(sums[i], scores[i]);
  }
  constexpr auto kCount = ColumnKind::Count;
  Listing listing{.name = "predictors",
                  .columns = {{"predictor", "predictor"},
                              {"error", "error", kCount},
                              {"precision", "precision", kCount},
                              {"recall", "recall", kCount},
                              {"onsets", "onsets", kCount},
                              {"lead, iterations", "lead_iterations", kCount}}};
  for (const PredictorScore& sum : sums) listing.rows.push_back(json_of(sum));
  return print_listing(std::move(listing), arguments.list);
}

}  // namespace

Status predictor_fit_command(const PredictorArguments& arguments, const TrainPorts& ports) {
  if (!ports.fit_predictor) {
    return Error{Code::Unimplemented, "this program has nothing that a predictor is made of"};
  }
  TRY(check_output(arguments.list));
  TRY_ASSIGN(const Runs runs, read_runs(arguments.folders));
  std::vector<IterationHistory> all;
  for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
  TRY_ASSIGN(const auto learned,
             ports.fit_predictor(all, {.file = arguments.file, .held_out = arguments.held_out}));
  return print_scores(runs, arguments, learned.get());
}

Status predictor_score_command(const PredictorArguments& arguments, const TrainPorts& ports) {
  TRY(check_output(arguments.list));
  TRY_ASSIGN(const Runs runs, read_runs(arguments.folders));
  std::unique_ptr<IterationPredictor> learned;
  if (!arguments.file.empty()) {
    TRY_ASSIGN(learned, ports.load_predictor(arguments.file));
  }
  return print_scores(runs, arguments, learned.get());
}

}  // namespace orrery
