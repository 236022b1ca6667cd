#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/muri_figures.h"

namespace orrery {

// One number of a figure, three times, in seconds.
struct ReproducedRow {
  const FigureRow* row = nullptr;
  Metric metric{};
  double published = 0;
  std::optional<double> reference;
  std::optional<double> ours;
  std::string note;  // what one should know about the row; may be empty

  // Of ours, in per cent, to the reference or, without one, to the published value.
  std::optional<double> difference_pct() const;
};

std::string_view metric_key(Metric metric);  // as in `orrery simulate --json`

// For people: a block a figure and metric, within 80 columns, and what the signs mean.
std::string reproduced_text(std::span<const ReproducedRow> rows);

std::string reproduced_json(std::string_view system, std::span<const ReproducedRow> rows);

}  // namespace orrery
