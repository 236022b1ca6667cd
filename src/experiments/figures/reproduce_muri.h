#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiments/figures/comparison.h"
#include "experiments/figures/muri_figures.h"
#include "experiments/figures/reproduce_arguments.h"

namespace orrery {

// One number of a figure of Muri, three times, in seconds.
struct ReproducedRow : Comparison {
  const FigureRow* row = nullptr;
  Metric metric{};
  std::string note;  // what one should know about the row; may be empty
};

std::string_view metric_key(Metric metric);  // as in `orrery simulate --json`

// For people: a block a figure and metric, within 80 columns, and what the signs mean.
std::string reproduced_text(std::span<const ReproducedRow> rows);

Status reproduce_muri(const ReproduceArguments& arguments);

std::string reproduced_json(std::string_view system, std::span<const ReproducedRow> rows);

}  // namespace orrery
