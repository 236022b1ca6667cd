#include "training/step_trace/training_shape.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "training/step_trace/text_parts.h"

namespace orrery {
namespace {

struct ShapeLine {
  std::string_view key;
  std::string_view value;
};

std::string_view without_comment(std::string_view line) {
  const std::size_t sign = line.find('#');
  const bool comment = sign == 0 || (sign != std::string_view::npos &&
                                     (line[sign - 1] == ' ' || line[sign - 1] == '\t'));
  return comment ? line.substr(0, sign) : line;
}

// Empty key: there is nothing on the line.
Result<ShapeLine> shape_line(std::string_view line) {
  if (line.starts_with(' ') || line.starts_with('\t')) {
    if (trimmed(without_comment(line)).empty()) return ShapeLine{};
    return invalid("is indented; write one `key: value` a line");
  }
  line = trimmed(without_comment(line));
  if (line.empty() || line == "---") return ShapeLine{};
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 ||
      (colon + 1 < line.size() && line[colon + 1] != ' ')) {
    return invalid(fmt::format("is '{}'; write `key: value`", shown(line)));
  }
  ShapeLine parts{.key = trimmed(line.substr(0, colon)), .value = trimmed(line.substr(colon + 1))};
  const bool quoted = parts.value.size() >= 2 &&
                      (parts.value.front() == '"' || parts.value.front() == '\'') &&
                      parts.value.back() == parts.value.front();
  if (quoted) parts.value = parts.value.substr(1, parts.value.size() - 2);
  return parts;
}

struct ShapeKey {
  std::string_view name;
  std::int64_t low;
  std::int64_t most;
};
constexpr std::int64_t kRunsMost = 2'147'483'647;
constexpr std::array<ShapeKey, 7> kShapeKeys = {{{"run_id", 0, kRunsMost},
                                                 {"dp_size", 1, kWorkersMost},
                                                 {"pp_size", 1, kStagesMost},
                                                 {"tp_size", 1, kStagesMost},
                                                 {"dsp_size", 1, kStagesMost},
                                                 {"vpp_size", 1, kStagesMost},
                                                 {"world_size", 1, std::int64_t{1} << 53}}};

Result<std::int64_t> shape_number(const ShapeKey& key, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc{} && end == text.data() + text.size() && value >= key.low &&
      value <= key.most) {
    return value;
  }
  return invalid(fmt::format("{} is '{}'; write a whole number from {} to {}", key.name,
                             shown(text), key.low, key.most));
}

}  // namespace

Result<TrainingShape> parse_training_shape(const std::string& name, std::string_view text) {
  std::array<std::int64_t, kShapeKeys.size()> values = {0, 1, 1, 1, 1, 1, 1};
  std::array<bool, kShapeKeys.size()> seen{};
  TrainingShape shape;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::string place = fmt::format("{}:{}", name, number);
    const std::size_t end = std::min(text.find('\n'), text.size());
    auto line = shape_line(without_return(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.ok()) return std::move(line).error().at(place);
    const auto [key, value] = line.value();
    if (key.empty()) continue;
    if (key == "trial_name") {
      if (!shape.experiment.empty()) return invalid(place + ": trial_name stands there twice");
      shape.experiment = plain_text(value);
      continue;
    }
    std::size_t i = 0;
    while (i < kShapeKeys.size() && kShapeKeys[i].name != key) ++i;
    if (i == kShapeKeys.size()) {
      return invalid(fmt::format(
          "{}: unknown key '{}'; the keys are trial_name, run_id, dp_size, pp_size, tp_size, "
          "dsp_size, vpp_size and world_size",
          place, shown(key)));
    }
    if (seen[i]) return invalid(fmt::format("{}: {} stands there twice", place, key));
    auto parsed = shape_number(kShapeKeys[i], value);
    if (!parsed.ok()) return std::move(parsed).error().at(place);
    seen[i] = true;
    values[i] = parsed.value();
  }
  shape.run = static_cast<int>(values[0]);
  shape.workers = static_cast<int>(values[1]);
  shape.stages = static_cast<int>(values[2]);
  shape.tensor_parallel = static_cast<int>(values[3]);
  shape.sequence_parallel = static_cast<int>(values[4]);
  shape.chunks_of_stage = static_cast<int>(values[5]);
  shape.world = values[6];
  if (!seen[1] || !seen[2]) {
    return invalid(fmt::format("{}: has no {}; write how many there are", name,
                               seen[1] ? "pp_size" : "dp_size"));
  }
  const double product = static_cast<double>(values[1]) * static_cast<double>(values[2]) *
                         static_cast<double>(values[3]) * static_cast<double>(values[4]);
  if (seen[6] && static_cast<double>(shape.world) != product) {
    return invalid(
        fmt::format("{}: world_size is {}, but dp_size x pp_size x tp_size x dsp_size is {:.0f}",
                    name, shape.world, product));
  }
  if (!seen[6]) shape.world = static_cast<std::int64_t>(product);
  return shape;
}

}  // namespace orrery
