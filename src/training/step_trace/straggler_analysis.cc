#include "training/step_trace/straggler_analysis.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "base/statistics.h"

namespace orrery {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Both times may be 0 in a trace of empty operations.
double ratio(double above, double below) { return below > 0 ? above / below : 1; }

// A part of the job: which operations, of which worker.
struct Part {
  std::function<bool(const StepOperation&)> holds = [](const StepOperation&) { return true; };
  std::optional<std::size_t> worker{};  // nothing: all
};

void copy_part(const RecordedSteps& recorded, const Part& part, const LaneValues& from,
               LaneValues& to) {
  const std::size_t workers = recorded.workers();
  for (std::size_t i = 0; i < recorded.operations.size(); ++i) {
    if (!part.holds(recorded.operations[i])) continue;
    const double* const source = from.of(i);
    double* const target = to.of(i);
    if (!part.worker) {
      std::copy_n(source, recorded.lanes(), target);
      continue;
    }
    for (std::size_t lane = *part.worker; lane < recorded.lanes(); lane += workers) {
      target[lane] = source[lane];
    }
  }
}

// Asks the same two questions about each part.
class Questions {
 public:
  Questions(const RecordedSteps& recorded, StepReplay& replay)
      : recorded_(recorded),
        replay_(replay),
        own_(replay.own_durations()),
        ideal_(ideal_durations(recorded, own_)),
        own_steps_(replay.step_times(own_)),
        ideal_steps_(replay.step_times(ideal_)) {}

  const std::vector<double>& own_steps() const { return own_steps_; }
  const std::vector<double>& ideal_steps() const { return ideal_steps_; }

  std::vector<double> over_ideal(const std::vector<double>& steps) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      ratios.push_back(ratio(steps[i], ideal_steps_[i]));
    }
    return ratios;
  }

  double step_without(const std::vector<Part>& parts) {
    LaneValues durations = own_;
    for (const Part& part : parts) copy_part(recorded_, part, ideal_, durations);
    return mean(replay_.step_times(durations));
  }

  std::optional<double> gain(double step_s) const {
    const double lost = mean(own_steps_) - mean(ideal_steps_);
    if (!(lost > 0)) return std::nullopt;
    return (mean(own_steps_) - step_s) / lost;
  }

  PartSlowness ask(const Part& part) {
    LaneValues durations = ideal_;
    copy_part(recorded_, part, own_, durations);
    const std::vector<double> alone = replay_.step_times(durations);
    PartSlowness answer{.slowdown = ratio(mean(alone), mean(ideal_steps_)),
                        .step_s = step_without({part}),
                        .steps = over_ideal(alone)};
    answer.gain = gain(answer.step_s);
    return answer;
  }

 private:
  const RecordedSteps& recorded_;
  StepReplay& replay_;
  const LaneValues own_;
  const LaneValues ideal_;
  const std::vector<double> own_steps_;
  const std::vector<double> ideal_steps_;
};

Part of_stage(std::size_t stage) {
  return {.holds = [stage](const StepOperation& operation) {
    return static_cast<std::size_t>(operation.stage) == stage;
  }};
}

Part of_rank(std::size_t worker, std::size_t stage) {
  Part part = of_stage(stage);
  part.worker = worker;
  return part;
}

std::vector<NamedSlowness> ask_by_operation(const RecordedSteps& recorded, Questions& questions) {
  std::vector<std::string_view> names;
  for (const StepOperation& operation : recorded.operations) {
    names.push_back(traits(operation.kind).group);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<NamedSlowness> answers;
  for (const std::string_view name : names) {
    answers.push_back(
        {std::string(name), questions.ask({.holds = [name](const StepOperation& each) {
           return traits(each.kind).group == name;
         }})});
  }
  std::ranges::stable_sort(answers, std::ranges::greater{},
                           [](const NamedSlowness& each) { return each.part.slowdown; });
  return answers;
}

// After the paper, equation 5. A rank scores the lesser of the slow-downs of its worker and stage.
std::optional<double> slowest_ranks_gain(const RecordedSteps& recorded,
                                         const StragglerAnalysis& analysis, Questions& questions) {
  const std::size_t stages = recorded.stages();
  std::vector<std::size_t> ranks(recorded.ranks.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  const auto score = [&](std::size_t i) {
    return std::min(analysis.by_worker[i / stages].slowdown,
                    analysis.by_stage[i % stages].slowdown);
  };
  std::ranges::sort(ranks, [&](std::size_t a, std::size_t b) {
    const double first = score(a), second = score(b);
    return first != second ? first > second : recorded.ranks[a] < recorded.ranks[b];
  });
  constexpr std::size_t kPercent = 3;
  std::vector<Part> slowest;
  for (std::size_t i = 0; i < (ranks.size() * kPercent + 99) / 100; ++i) {
    slowest.push_back(of_rank(ranks[i] / stages, ranks[i] % stages));
  }
  return questions.gain(questions.step_without(slowest));
}

double recorded_step(const RecordedSteps& recorded) {
  std::vector<double> steps(recorded.steps.size());
  for (std::size_t i = 0; i < recorded.operations.size(); ++i) {
    for (std::size_t lane = 0; lane < recorded.lanes(); ++lane) {
      double& step = steps[lane / recorded.workers()];
      step = std::max(step, recorded.starts.of(i)[lane] + recorded.durations.of(i)[lane]);
    }
  }
  return mean(steps);
}

}  // namespace

LaneValues ideal_durations(const RecordedSteps& recorded, const LaneValues& own) {
  std::map<OperationKind, std::vector<std::size_t>> rows_of;
  for (std::size_t i = 0; i < recorded.operations.size(); ++i) {
    rows_of[recorded.operations[i].kind].push_back(i);
  }
  LaneValues ideal(recorded.operations.size(), recorded.lanes());
  for (const auto& [kind, rows] : rows_of) {
    std::vector<double> values;
    values.reserve(rows.size() * recorded.lanes());
    for (const std::size_t row : rows) {
      values.insert(values.end(), own.of(row), own.of(row) + recorded.lanes());
    }
    const double usual = traits(kind).communicates ? median(std::move(values)) : mean(values);
    for (const std::size_t row : rows) std::fill_n(ideal.of(row), recorded.lanes(), usual);
  }
  return ideal;
}

StragglerAnalysis analyse_stragglers(const RecordedSteps& recorded, StepReplay& replay,
                                     const AnalysisOptions& options) {
  Questions questions(recorded, replay);
  StragglerAnalysis analysis;
  analysis.recorded_step_s = recorded_step(recorded);
  analysis.replayed_step_s = mean(questions.own_steps());
  analysis.ideal_step_s = mean(questions.ideal_steps());
  analysis.slowdown = ratio(analysis.replayed_step_s, analysis.ideal_step_s);
  analysis.launch_slowdown = ratio(analysis.recorded_step_s, analysis.replayed_step_s);
  analysis.steps = questions.over_ideal(questions.own_steps());
  for (std::size_t worker = 0; worker < recorded.workers(); ++worker) {
    analysis.by_worker.push_back(questions.ask({.worker = worker}));
  }
  for (std::size_t stage = 0; stage < recorded.stages(); ++stage) {
    analysis.by_stage.push_back(questions.ask(of_stage(stage)));
  }
  analysis.by_operation = ask_by_operation(recorded, questions);
  analysis.slowest_ranks_gain = slowest_ranks_gain(recorded, analysis, questions);
  if (recorded.stages() > 1) analysis.last_stage_gain = analysis.by_stage.back().gain;
  for (std::size_t i = 0; options.by_rank && i < recorded.ranks.size(); ++i) {
    analysis.by_rank.push_back(
        questions.ask(of_rank(i / recorded.stages(), i % recorded.stages())));
  }
  return analysis;
}

Culprit find_culprit(const RecordedSteps& recorded, const StragglerAnalysis& analysis) {
  if (analysis.slowdown < kNoticeableSlowdown) return {};
  constexpr double kExplains = 0.5;
  const auto best = [](const std::vector<PartSlowness>& parts) {
    const auto found = std::ranges::max_element(
        parts, {}, [](const PartSlowness& part) { return part.gain.value_or(0); });
    return static_cast<std::size_t>(found - parts.begin());
  };
  // A part that is all there is explains everything, and says nothing.
  const bool workers = recorded.workers() > 1, stages = recorded.stages() > 1;
  const auto explains = [](const std::vector<PartSlowness>& parts, std::size_t number) {
    return parts[number].gain.value_or(0) >= kExplains;
  };
  if (workers && stages) {
    const std::size_t rank = best(analysis.by_rank);
    if (explains(analysis.by_rank, rank)) return {Culprit::Kind::Rank, rank};
  }
  if (workers) {
    const std::size_t worker = best(analysis.by_worker);
    if (explains(analysis.by_worker, worker)) return {Culprit::Kind::Worker, worker};
  }
  if (stages) {
    const std::size_t stage = best(analysis.by_stage);
    if (explains(analysis.by_stage, stage)) return {Culprit::Kind::Stage, stage};
  }
  return {};
}

}  // namespace orrery
