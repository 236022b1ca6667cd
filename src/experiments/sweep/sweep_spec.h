#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace orrery {

// Settings of a run by name, as texts: those of `orrery simulate`, option.KEY of its policy and
// generator.KEY of its trace.
using SweepSettings = std::map<std::string, std::string>;

struct SweepValue {
  std::string label;
  SweepSettings settings;
};

struct SweepAxis {
  std::string name;
  std::vector<SweepValue> values;  // under different labels
};

// Values of an axis, by their places in it.
struct SweepChoice {
  std::size_t axis = 0;
  std::vector<std::size_t> values;
};

// What a sweep is to show. Names of metrics are fields of --json.
struct SweepReport {
  std::vector<std::string> metrics{};
  std::string x{};      // an axis; empty: chosen by its values
  std::string lines{};  // likewise
  std::optional<std::pair<std::string, std::string>> pareto{};
};

// What a sweep file or a command line says.
struct SweepSpec {
  SweepSettings common{};
  std::vector<SweepAxis> axes{};
  std::vector<std::vector<SweepChoice>> grids{};       // each is a cross product
  std::vector<std::vector<SweepChoice>> exclusions{};  // points that are in all choices of one
  std::vector<SweepChoice> baseline{};                 // a value each; empty: the first policy
  SweepReport report{};

  std::optional<std::size_t> find_axis(std::string_view name) const;
};

// The names of the settings.
const std::vector<std::string_view>& sweep_setting_names();

// The key in SweepSettings of a setting, option.KEY, generator.KEY or the KEY of a generator alone.
// Empty: there is no such setting.
std::string sweep_setting_key(std::string_view name);

// "did you mean 'policy'?"
std::string nearest_sweep_name(std::string_view name, const std::vector<std::string_view>& known);

// Puts a value into the axis, which is made if there is none of this name. Answers its place. An
// error if the label stands for other settings there.
Result<std::size_t> add_sweep_value(SweepAxis& axis, SweepValue value);
std::size_t add_sweep_axis(SweepSpec& spec, std::string_view name);

// The values of an axis under these labels.
Result<SweepChoice> find_sweep_values(const SweepSpec& spec, std::string_view axis,
                                      const std::vector<std::string>& labels);

// Fails for a name that is no metric.
Status check_metric(std::string_view name);

// A range of numbers as texts: 0.5, 0.6, ... , both ends included.
Result<std::vector<std::string>> sweep_range(double from, double to, double step);

// Reads a sweep file; docs/formats/sweep.md. `name` stands in messages.
Result<SweepSpec> parse_sweep(std::string_view name, std::string_view text);

// Files named in the file are meant relative to its folder, where they are there.
void resolve_paths(SweepSpec& spec, const std::string& folder);

}  // namespace orrery
