#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "experiments/figures/comparison.h"
#include "experiments/figures/elasticflow_figures.h"
#include "experiments/figures/figure_choice.h"
#include "experiments/figures/reproduce_arguments.h"
#include "report/page/html.h"
#include "simulation/kernel/simulation.h"

namespace orrery {

Status reproduce_elasticflow(const ReproduceArguments& arguments);

namespace elasticflow {

// The worlds in which the figures are run: that of the released simulator, and ours.
inline constexpr std::array kWorlds = {SemanticsKind::ElasticFlow, SemanticsKind::Orrery};

// One number of a figure; `ours` is by the rules of the released simulator.
struct Row : Comparison {
  const Figure* figure = nullptr;
  const Setting* setting = nullptr;
  Metric metric{};
  Shown shown{};
  std::optional<double> by_our_rules;
  std::string gap;  // why there is nothing of ours, in two words; empty: there is
  std::string note;
};

using RunKey = std::tuple<const Setting*, Shown, SemanticsKind>;
using Runs = std::map<RunKey, ReportRun>;

// For people: a block a figure and metric, within 80 columns, and what the words mean.
std::string text(std::span<const Row> rows, const Worlds& worlds);
std::string json(std::span<const Row> rows);

// The figures drawn: bars as published, or lines where the figure has lines.
std::vector<ReportFigure> drawn(std::span<const Row> rows, const Runs& runs, const Worlds& worlds);

}  // namespace elasticflow
}  // namespace orrery
