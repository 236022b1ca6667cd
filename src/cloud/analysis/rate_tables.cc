#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cloud/analysis/tables.h"

namespace orrery {

void add_rate_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  RowWriter write(rows);
  for (const RateSeries& series : inputs.data.rates) {
    const std::vector<SeriesPoint>& points = series.evaluations;
    std::vector<std::string> curve;
    for (const SeriesPoint& point : points) {
      curve.push_back(fmt::format("{}:{:.4f}", point.step, point.value));
    }
    const auto best = std::ranges::max_element(points, {}, &SeriesPoint::value);
    write.of("adaptive_lr", series.name);
    write.add_count("rows", points.size());
    write.add("final_accuracy", points.back().value);
    write.add("best_accuracy", best->value);
    write.add("duration_s", points.back().at_s - points.front().at_s);
    write.add_count("last_step", static_cast<std::size_t>(points.back().step));
    write.add_text("curve", fmt::format("{}", fmt::join(curve, " ")));
  }
}

}  // namespace orrery
