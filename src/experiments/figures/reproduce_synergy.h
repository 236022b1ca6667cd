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
#include "experiments/figures/figure_choice.h"
#include "experiments/figures/reproduce_arguments.h"
#include "experiments/figures/synergy_figures.h"
#include "report/page/html.h"
#include "simulation/kernel/simulation.h"

namespace orrery {

Status reproduce_synergy(const ReproduceArguments& arguments);

namespace synergy {

// The worlds in which the figures are run: that of the released simulator, and ours.
inline constexpr std::array kWorlds = {SemanticsKind::Synergy, SemanticsKind::Orrery};

inline constexpr double kWaitShare = 0.1;

// One number of a figure; `ours` is by the rules of the released simulator.
struct Row : Comparison {
  const Figure* figure = nullptr;
  const Setting* setting = nullptr;
  std::string_view order;
  std::string_view allocator;
  Metric metric{};
  std::optional<double> by_our_rules;
  // True if the jobs waited for at most kWaitShare of their time: the cluster keeps up.
  std::optional<bool> kept_up;
  std::optional<bool> kept_up_by_our_rules;

  std::string policy() const;
};

// One of the paper's claims: how many times.
struct ClaimRow : Comparison {
  const Claim* claim = nullptr;
  std::optional<double> by_our_rules;
};

using RunKey = std::tuple<const Setting*, std::string, SemanticsKind>;
using Runs = std::map<RunKey, ReportRun>;

struct Tables {
  std::vector<Row> rows;
  std::vector<ClaimRow> claims;
};

// For people: the figures one after another, within 80 columns, and what the words mean.
std::string text(const Tables& tables, const Worlds& worlds);
std::string json(const Tables& tables);

// The figures drawn: bars, or lines where the figure has an axis; and use over time.
std::vector<ReportFigure> drawn(std::span<const Row> rows, const Runs& runs, const Worlds& worlds);

}  // namespace synergy
}  // namespace orrery
