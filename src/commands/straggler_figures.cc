#include "commands/straggler_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "report/page/block_chart.h"
#include "report/page/heat_map.h"
#include "report/table.h"

namespace orrery {
namespace {

constexpr std::size_t kRowsMost = 64;
constexpr std::size_t kColumnsMost = 200;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// The shade of a slow-down that is worth a look ends the scale at the latest.
double darkest(double most) { return std::max(1.1, most); }

struct Named {
  std::string name;
  const PartSlowness* part = nullptr;
};

Named culprit_of(const RecordedSteps& recorded, const StragglerAnalysis& analysis) {
  const Culprit culprit = find_culprit(recorded, analysis);
  const std::size_t stages = recorded.stages();
  switch (culprit.kind) {
    case Culprit::Kind::Rank:
      return {fmt::format("Worker {} at stage {} (rank {})", culprit.number / stages,
                          culprit.number % stages, recorded.ranks[culprit.number]),
              &analysis.by_rank[culprit.number]};
    case Culprit::Kind::Worker:
      return {fmt::format("Worker {}", culprit.number), &analysis.by_worker[culprit.number]};
    case Culprit::Kind::Stage:
      return {fmt::format("Stage {}", culprit.number), &analysis.by_stage[culprit.number]};
    case Culprit::Kind::None:
      break;
  }
  return {};
}

std::string largest_operation(const StragglerAnalysis& analysis) {
  const auto largest = std::ranges::max_element(
      analysis.by_operation, {},
      [](const NamedSlowness& each) { return each.part.gain.value_or(0); });
  if (largest == analysis.by_operation.end() || !(largest->part.gain.value_or(0) > 0)) return "";
  return fmt::format(" Of all slowness, {} is in {}.", percent(*largest->part.gain), largest->name);
}

// Ranks in their order, or the slowest if there are too many.
std::vector<std::size_t> ranks_shown(const RecordedSteps& recorded,
                                     const StragglerAnalysis& analysis) {
  std::vector<std::size_t> ranks(recorded.ranks.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  if (ranks.size() <= kRowsMost) return ranks;
  std::ranges::stable_sort(ranks, std::ranges::greater{},
                           [&](std::size_t i) { return analysis.by_rank[i].slowdown; });
  ranks.resize(kRowsMost);
  return ranks;
}

std::string rank_name(const RecordedSteps& recorded, std::size_t rank) {
  const std::size_t stages = recorded.stages();
  if (stages == 1) return fmt::format("worker {}", rank);
  return fmt::format("worker {} stage {}", rank / stages, rank % stages);
}

ReportFigure map_of_ranks(const RecordedSteps& recorded, const StragglerAnalysis& analysis) {
  const std::size_t workers = std::min(recorded.workers(), kColumnsMost);
  const std::size_t stages = std::min(recorded.stages(), kRowsMost);
  HeatMap map{.title = "Slow-down by worker and stage",
              .row_label = "stage",
              .column_label = "worker",
              .low = 1};
  double most = 1;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    map.columns.push_back(std::to_string(worker));
  }
  for (std::size_t stage = 0; stage < stages; ++stage) {
    map.rows.push_back(std::to_string(stage));
    map.values.emplace_back();
    for (std::size_t worker = 0; worker < workers; ++worker) {
      const double value = analysis.by_rank[worker * recorded.stages() + stage].slowdown;
      map.values.back().push_back(value);
      most = std::max(most, value);
    }
  }
  map.high = darkest(most);
  std::string caption =
      "How many times longer a step takes if only this worker is slow, and only at this stage.";
  if (workers < recorded.workers() || stages < recorded.stages()) {
    caption += fmt::format(" The first {} workers and {} stages.", workers, stages);
  }
  return {map.title, caption, svg(map)};
}

ReportFigure map_over_steps(const RecordedSteps& recorded, const StragglerAnalysis& analysis) {
  HeatMap map{.title = "Slow-down by rank over the steps",
              .row_label = "",
              .column_label = "step",
              .low = 1};
  const std::vector<std::size_t> ranks = ranks_shown(recorded, analysis);
  // A column for several steps shows the worst of them.
  const std::size_t each = (recorded.steps.size() + kColumnsMost - 1) / kColumnsMost;
  for (std::size_t i = 0; i < recorded.steps.size(); i += each) {
    map.columns.push_back(std::to_string(recorded.steps[i]));
  }
  double most = 1;
  for (const std::size_t rank : ranks) {
    map.rows.push_back(rank_name(recorded, rank));
    map.values.emplace_back(map.columns.size());
    const std::vector<double>& steps = analysis.by_rank[rank].steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      double& value = map.values.back()[i / each];
      value = std::max(value, steps[i]);
      most = std::max(most, value);
    }
  }
  map.high = darkest(most);
  std::string caption = "How many times longer each step takes if only this rank is slow.";
  if (ranks.size() < recorded.ranks.size()) {
    caption += fmt::format(" The {} slowest of {} ranks.", ranks.size(), recorded.ranks.size());
  }
  if (each > 1) caption += fmt::format(" A column is the slowest of {} steps.", each);
  return {map.title, caption, svg(map)};
}

constexpr std::size_t kNotDrawn = 99;

// Of the legend below. Transfers between stages are not drawn: they overlap with computation.
std::size_t block_kind(OperationKind kind) {
  switch (kind) {
    case OperationKind::ForwardCompute:
    case OperationKind::Compute:
      return 0;
    case OperationKind::BackwardCompute:
      return 1;
    case OperationKind::Optimizer:
    case OperationKind::GarbageCollection:
      return 3;
    case OperationKind::ForwardSend:
    case OperationKind::ForwardReceive:
    case OperationKind::BackwardSend:
    case OperationKind::BackwardReceive:
      return kNotDrawn;
    default:
      return 2;
  }
}

template <class From, class To>
std::vector<BlockChart::Row> block_rows(const RecordedSteps& recorded,
                                        const std::vector<std::size_t>& ranks, From from, To to) {
  std::vector<BlockChart::Row> rows;
  for (const std::size_t rank : ranks) {
    BlockChart::Row row{.label = rank_name(recorded, rank), .blocks = {}};
    for (std::size_t i = 0; i < recorded.operations.size(); ++i) {
      const StepOperation& operation = recorded.operations[i];
      const std::size_t kind = block_kind(operation.kind);
      const bool here = static_cast<std::size_t>(operation.stage) == rank % recorded.stages();
      if (!here || kind == kNotDrawn) continue;
      const std::size_t worker = rank / recorded.stages();
      row.blocks.push_back({from(i, worker), to(i, worker), static_cast<int>(kind)});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

ReportFigure timeline(const RecordedSteps& recorded, const StragglerAnalysis& analysis,
                      const StepTimes& ideal) {
  const auto slowest =
      static_cast<std::size_t>(std::ranges::max_element(analysis.steps) - analysis.steps.begin());
  const std::size_t first_lane = slowest * recorded.workers();
  std::vector<std::size_t> ranks = ranks_shown(recorded, analysis);
  constexpr std::size_t kTimelineRows = 32;
  if (ranks.size() > kTimelineRows) ranks.resize(kTimelineRows);
  const auto start = [&](std::size_t i, std::size_t worker) {
    return recorded.starts.of(i)[first_lane + worker];
  };
  const BlockChart chart{
      .title = "Timeline of the slowest step",
      .kinds = recorded.operations.front().kind == OperationKind::Compute || recorded.stages() == 1
                   ? std::vector<std::string>{"compute", "backward", "communication", "optimizer"}
                   : std::vector<std::string>{"forward", "backward", "communication", "optimizer"},
      .panels = {
          {fmt::format("Step {} as recorded", recorded.steps[slowest]),
           block_rows(recorded, ranks, start,
                      [&](std::size_t i, std::size_t worker) {
                        return start(i, worker) + recorded.durations.of(i)[first_lane + worker];
                      })},
          {"The same without slowness",
           block_rows(
               recorded, ranks,
               [&](std::size_t i, std::size_t worker) { return ideal.starts.of(i)[worker]; },
               [&](std::size_t i, std::size_t worker) { return ideal.ends.of(i)[worker]; })}}};
  return {chart.title,
          fmt::format("Step {} is slowed down {:.2f} times. Blank is waiting for another stage; "
                      "communication includes waiting for other workers.",
                      recorded.steps[slowest], analysis.steps[slowest]),
          svg(chart)};
}

}  // namespace

std::string straggler_verdict(const RecordedSteps& recorded, const StragglerAnalysis& analysis) {
  if (analysis.slowdown < kNoticeableSlowdown) {
    return fmt::format(
        "No straggler: without any slowness a step would take {} instead of {}, {:.1f} % less.",
        human_duration(analysis.ideal_step_s), human_duration(analysis.replayed_step_s),
        100 * (1 - 1 / analysis.slowdown));
  }
  const Named culprit = culprit_of(recorded, analysis);
  if (culprit.part == nullptr) {
    return fmt::format(
               "Slowness takes {:.2f} times the usual step, and no worker or stage explains "
               "half of it.",
               analysis.slowdown) +
           largest_operation(analysis);
  }
  constexpr double kAll = 1.02;
  const double gain = *culprit.part->gain;
  return fmt::format(
             "{} slows the training down {:.2f} times. Without its slowness a step takes "
             "{} instead of {}: {}.",
             culprit.name, culprit.part->slowdown, human_duration(culprit.part->step_s),
             human_duration(analysis.replayed_step_s),
             gain > kAll ? "more than all slowness costs, since others are faster than usual"
                         : percent(gain) + " of what all slowness costs") +
         largest_operation(analysis);
}

std::vector<ReportFigure> straggler_figures(const RecordedSteps& recorded,
                                            const StragglerAnalysis& analysis,
                                            const StepTimes& ideal) {
  std::vector<ReportFigure> figures;
  if (recorded.stages() > 1) figures.push_back(map_of_ranks(recorded, analysis));
  figures.push_back(map_over_steps(recorded, analysis));
  figures.push_back(timeline(recorded, analysis, ideal));
  return figures;
}

}  // namespace orrery
