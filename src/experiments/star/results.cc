#include "experiments/star/results.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

namespace orrery {

Result<RunResult> parse_result(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("time_to_target_s")) {
    return invalid("this is not what `orrery-train run --json` prints");
  }
  const auto number = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  RunResult result;
  if (json["time_to_target_s"].is_number()) {
    result.time_to_target_s = json["time_to_target_s"].get<double>();
  }
  result.final_accuracy = number("final_accuracy");
  result.wall_s = number("wall_s");
  result.training_s = number("training_s");
  result.limits_moved = number("limits_moved");
  result.gradients = number("gradients");
  if (result.gradients > 0) {
    result.task_cpu_s = number("worker_cpu_s") * number("workers") / result.gradients;
  }
  result.mean_staleness = number("mean_staleness");
  result.mode_switches = static_cast<int>(number("mode_switches"));
  const auto injector = json.find("injector");
  if (injector != json.end()) {
    result.injector = injector->is_string() ? injector->get<std::string>() : injector->dump();
  }
  const auto trusted = json.find("trusted");
  result.trusted = trusted == json.end() || !trusted->is_boolean() || trusted->get<bool>();
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
