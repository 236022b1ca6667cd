#include "experiments/sweep/sweep_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/nearest_word.h"
#include "report/csv.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

constexpr double kRangeMax = 100'000;

const std::set<std::string_view>& generator_options() {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> all;
    for (const Generator& generator : generators()) {
      for (const GeneratorOption& option : generator.options) all.insert(option.name);
    }
    return all;
  }();
  return names;
}

// Of --json; the others are numbers.
bool is_text_field(std::string_view name) {
  constexpr std::string_view kTexts[] = {"trace",   "policy", "semantics",
                                         "cluster", "status", "warnings"};
  return std::ranges::find(kTexts, name) != std::end(kTexts);
}

}  // namespace

std::optional<std::size_t> SweepSpec::find_axis(std::string_view name) const {
  const auto found = std::ranges::find(axes, name, &SweepAxis::name);
  if (found == axes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - axes.begin());
}

const std::vector<std::string_view>& sweep_setting_names() {
  static const std::vector<std::string_view> names = {
      "trace", "cluster", "policy",       "semantics", "speed-error", "round",
      "limit", "window",  "trace-format", "profiles",  "gpu-type",    "seed"};
  return names;
}

std::string sweep_setting_key(std::string_view name) {
  const auto& known = sweep_setting_names();
  if (std::ranges::find(known, name) != known.end()) return std::string(name);
  if (name.starts_with("option.") && name.size() > 7) return std::string(name);
  const std::string_view generator = "generator.";
  const bool prefixed = name.starts_with(generator);
  const std::string_view option = prefixed ? name.substr(generator.size()) : name;
  if (!generator_options().contains(option)) return "";
  // It seeds the runs, too.
  if (option == "seed") return "";
  return fmt::format("{}{}", generator, option);
}

std::string nearest_sweep_name(std::string_view name, const std::vector<std::string_view>& known) {
  return fmt::format("did you mean '{}'?", nearest_word(name, known));
}

Result<std::size_t> add_sweep_value(SweepAxis& axis, SweepValue value) {
  const auto same = std::ranges::find(axis.values, value.label, &SweepValue::label);
  if (same == axis.values.end()) {
    axis.values.push_back(std::move(value));
    return axis.values.size() - 1;
  }
  if (same->settings == value.settings) return static_cast<std::size_t>(same - axis.values.begin());
  return invalid(fmt::format("'{}' stands for two different values of {}; give each a name",
                             value.label, axis.name));
}

std::size_t add_sweep_axis(SweepSpec& spec, std::string_view name) {
  if (const auto found = spec.find_axis(name)) return *found;
  spec.axes.push_back({.name = std::string(name), .values = {}});
  return spec.axes.size() - 1;
}

Result<SweepChoice> find_sweep_values(const SweepSpec& spec, std::string_view axis,
                                      const std::vector<std::string>& labels) {
  const auto found = spec.find_axis(axis);
  if (!found) {
    std::vector<std::string_view> known;
    for (const SweepAxis& one : spec.axes) known.push_back(one.name);
    if (known.empty()) return invalid("the sweep has no axes");
    return invalid(fmt::format("the sweep has no axis '{}'; {} The axes are {}", axis,
                               nearest_sweep_name(axis, known), fmt::join(known, ", ")));
  }
  SweepChoice choice{.axis = *found, .values = {}};
  const std::vector<SweepValue>& values = spec.axes[*found].values;
  for (const std::string& label : labels) {
    const auto value = std::ranges::find(values, label, &SweepValue::label);
    if (value == values.end()) {
      std::vector<std::string_view> known;
      for (const SweepValue& one : values) known.push_back(one.label);
      return invalid(fmt::format("the axis {} has no value '{}'; {}", axis, label,
                                 known.empty() ? "it has none" : nearest_sweep_name(label, known)));
    }
    choice.values.push_back(static_cast<std::size_t>(value - values.begin()));
  }
  return choice;
}

Status check_metric(std::string_view name) {
  static const std::vector<std::string> fields = field_names();
  std::vector<std::string_view> known;
  for (const std::string& field : fields) {
    if (!is_text_field(field)) known.push_back(field);
  }
  if (std::ranges::find(known, name) != known.end()) return {};
  return invalid(fmt::format("there is no metric '{}'; {} docs/formats/summary.md lists them", name,
                             nearest_sweep_name(name, known)));
}

Result<std::vector<std::string>> sweep_range(double from, double to, double step) {
  if (!std::isfinite(from) || !std::isfinite(to) || !std::isfinite(step) || !(step > 0) ||
      from > to || (to - from) / step > kRangeMax) {
    return invalid(
        fmt::format("a range needs from <= to and step > 0, and at most {} values", kRangeMax));
  }
  std::vector<std::string> texts;
  const auto steps = static_cast<int>(std::floor((to - from) / step + 1e-9));
  // Ten digits, so that 0.5 + 2 x 0.1 is 0.7.
  for (int i = 0; i <= steps; ++i) texts.push_back(fmt::format("{:.10g}", from + i * step));
  return texts;
}

void resolve_paths(SweepSpec& spec, const std::string& folder) {
  namespace fs = std::filesystem;
  const auto resolve = [&](SweepSettings& settings) {
    for (const char* key : {"trace", "cluster", "profiles"}) {
      const auto found = settings.find(key);
      if (found == settings.end()) continue;
      std::error_code problem;
      const fs::path path = fs::path(folder) / found->second;
      if (fs::exists(path, problem)) found->second = path.lexically_normal().string();
    }
  };
  resolve(spec.common);
  for (SweepAxis& axis : spec.axes) {
    for (SweepValue& value : axis.values) resolve(value.settings);
  }
}

}  // namespace orrery
