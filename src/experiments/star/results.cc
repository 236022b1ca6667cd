#include "experiments/star/results.h"

#include <charconv>
#include <string_view>

namespace orrery {

Result<RunResult> parse_result(const std::string& json) {
  RunResult result;
  TRY_ASSIGN(static_cast<TrainingResult&>(result), parse_training_result(json));
  return result;
}

Result<std::vector<std::pair<double, double>>> parse_curve(const std::string& csv) {
  std::vector<std::pair<double, double>> points;
  std::size_t at = 0;
  int line_number = 0, time = -1, accuracy = -1;
  while (at < csv.size()) {
    const std::size_t end = std::min(csv.find('\n', at), csv.size());
    const std::string_view line = std::string_view(csv).substr(at, end - at);
    at = end + 1;
    ++line_number;
    double found_time = -1, found_accuracy = -1;
    int column = 0;
    for (std::size_t from = 0; from <= line.size(); ++column) {
      const std::size_t comma = std::min(line.find(',', from), line.size());
      const std::string_view cell = line.substr(from, comma - from);
      from = comma + 1;
      if (line_number == 1) {
        if (cell == "time_s") time = column;
        if (cell == "accuracy") accuracy = column;
        continue;
      }
      double value = -1;
      std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (column == time) found_time = value;
      if (column == accuracy) found_accuracy = value;
    }
    if (line_number == 1 && (time < 0 || accuracy < 0)) {
      return invalid("line 1: no columns time_s and accuracy");
    }
    if (line_number > 1 && found_time >= 0 && found_accuracy >= 0) {
      points.emplace_back(found_time, found_accuracy);
    }
  }
  return points;
}

}  // namespace orrery
