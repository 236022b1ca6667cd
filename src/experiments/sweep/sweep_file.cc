#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/plain_text.h"
#include "base/toml_table.h"
#include "experiments/sweep/sweep_spec.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 5> kSections = {"axes", "points", "exclude", "baseline",
                                                       "report"};
constexpr std::array<std::string_view, 2> kGroups = {"option", "generator"};

bool is_group(std::string_view key) { return std::ranges::find(kGroups, key) != kGroups.end(); }

class SweepFile {
 public:
  explicit SweepFile(std::string_view name) : name_(name) {}

  Result<SweepSpec> read(const toml::table& document) && {
    const TomlTable top(name_, document);
    TRY(read_common(top));
    TRY(read_grids(top));
    TRY(read_exclusions(top));
    if (const toml::node* node = top.find("baseline")) TRY(read_baseline(*node));
    if (const toml::node* node = top.find("report")) TRY(read_report(*node));
    return std::move(spec_);
  }

 private:
  Error wrong(const toml::node& where, std::string_view what) const {
    return toml_error(name_, where, what);
  }

  Error unknown(const toml::node& where, std::string_view key,
                std::span<const std::string_view> also) const {
    std::vector<std::string_view> known = sweep_setting_names();
    known.insert(known.end(), kGroups.begin(), kGroups.end());
    known.insert(known.end(), also.begin(), also.end());
    return wrong(where,
                 fmt::format("unknown key '{}'; {} The known ones are {}, and the options of "
                             "generators",
                             plain_text(key.substr(0, 40)), nearest_sweep_name(key, known),
                             fmt::join(known, ", ")));
  }

  Result<const toml::table*> table(const toml::node& node, std::string_view what) const {
    if (const toml::table* found = node.as_table()) return found;
    return wrong(node, fmt::format("'{}' must be a table", what));
  }

  Result<std::string> text(const toml::node& node, std::string_view key) const {
    if (const auto value = node.value_exact<std::string>(); value && !value->empty()) {
      return *value;
    }
    if (const auto value = node.value_exact<std::int64_t>()) return fmt::to_string(*value);
    if (const auto value = node.value_exact<bool>()) return std::string(*value ? "true" : "false");
    const auto value = node.value_exact<double>();
    if (value && std::isfinite(*value)) return fmt::format("{}", *value);
    return wrong(node, fmt::format("'{}': must be a text that is not empty, or a number", key));
  }

  // One value or a list of them.
  Result<std::vector<std::string>> texts(const toml::node& node, std::string_view key) const {
    std::vector<std::string> found;
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      TRY_ASSIGN(found.emplace_back(), text(node, key));
      return found;
    }
    for (const toml::node& entry : *list) {
      TRY_ASSIGN(found.emplace_back(), text(entry, key));
    }
    if (found.empty()) return wrong(node, fmt::format("'{}': the list is empty", key));
    return found;
  }

  // A setting by its name, or the settings in a table [option] or [generator].
  Status add_setting(std::string_view key, const toml::node& node, SweepSettings& settings,
                     std::span<const std::string_view> also) const {
    if (is_group(key)) {
      TRY_ASSIGN(const toml::table* group, table(node, key));
      for (const auto& [name, value] : TomlTable(name_, *group).entries()) {
        const std::string full = sweep_setting_key(fmt::format("{}.{}", key, name));
        if (full.empty()) return wrong(*value, no_such_option(key, name));
        TRY_ASSIGN(settings[full], text(*value, name));
      }
      return {};
    }
    const std::string full = sweep_setting_key(key);
    if (full.empty()) return unknown(node, key, also);
    if (settings.contains(full)) return wrong(node, fmt::format("'{}' comes twice", full));
    TRY_ASSIGN(settings[full], text(node, key));
    return {};
  }

  static std::string no_such_option(std::string_view group, std::string_view name) {
    if (name == "seed") return "'seed' is a setting of its own: it seeds the generator and the run";
    return fmt::format("no {} has '{}'; see `orrery {}`", group, plain_text(name.substr(0, 40)),
                       group == "generator" ? "traces" : "policies");
  }

  Status read_common(const TomlTable& top) {
    for (const auto& [key, node] : top.entries()) {
      if (std::ranges::find(kSections, key) != kSections.end()) continue;
      TRY(add_setting(key, *node, spec_.common, kSections));
    }
    return {};
  }

  Status read_grids(const TomlTable& top) {
    if (const toml::node* axes = top.find("axes")) {
      TRY_ASSIGN(const toml::table* grid, table(*axes, "axes"));
      TRY(read_grid(TomlTable(name_, *grid)));
    }
    TRY_ASSIGN(const std::vector<TomlTable> points, top.tables("points"));
    for (const TomlTable& grid : points) TRY(read_grid(grid));
    if (spec_.grids.empty()) spec_.grids.emplace_back();
    return {};
  }

  Status read_grid(const TomlTable& table) {
    std::vector<SweepChoice> grid;
    for (const auto& [key, node] : table.entries()) {
      if (!is_group(key)) {
        TRY_ASSIGN(grid.emplace_back(), read_axis(key, *node));
        continue;
      }
      TRY_ASSIGN(const toml::table* group, this->table(*node, key));
      for (const auto& [name, values] : TomlTable(name_, *group).entries()) {
        const std::string full = sweep_setting_key(fmt::format("{}.{}", key, name));
        if (full.empty()) return wrong(*values, no_such_option(key, name));
        TRY_ASSIGN(grid.emplace_back(),
                   read_axis(key == "option" ? full : std::string(name), *values));
      }
    }
    std::ranges::sort(grid, {}, &SweepChoice::axis);
    spec_.grids.push_back(std::move(grid));
    return {};
  }

  Result<SweepChoice> read_axis(std::string_view name, const toml::node& node) {
    SweepChoice choice{.axis = add_sweep_axis(spec_, name), .values = {}};
    const auto add = [&](const toml::node& where, SweepValue value) -> Status {
      auto place = add_sweep_value(spec_.axes[choice.axis], std::move(value));
      if (!place.ok()) return wrong(where, place.error().message);
      if (std::ranges::find(choice.values, place.value()) == choice.values.end()) {
        choice.values.push_back(place.value());
      }
      return {};
    };
    if (const toml::table* range = node.as_table()) {
      TRY_ASSIGN(const std::vector<std::string> texts, read_range(TomlTable(name_, *range), node));
      for (const std::string& text : texts) {
        TRY_ASSIGN(SweepValue value, plain_value(name, node, text));
        TRY(add(node, std::move(value)));
      }
      return choice;
    }
    const toml::array* list = node.as_array();
    if (list != nullptr && list->empty()) {
      return wrong(node, fmt::format("'{}': the list is empty", plain_text(name)));
    }
    const auto read = [&](const toml::node& entry) -> Status {
      TRY_ASSIGN(SweepValue value, read_value(name, entry));
      return add(entry, std::move(value));
    };
    if (list == nullptr) TRY(read(node));
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) TRY(read(*list->get(i)));
    return choice;
  }

  Result<std::vector<std::string>> read_range(const TomlTable& range,
                                              const toml::node& where) const {
    constexpr std::array<std::string_view, 3> kKeys = {"from", "to", "step"};
    TRY(range.check_keys(kKeys));
    TRY(range.check_present(std::array<std::string_view, 2>{"from", "to"}, "the range"));
    constexpr double kMost = 1e15;
    TRY_ASSIGN(const double from, range.number("from", kMost));
    TRY_ASSIGN(const double to, range.number("to", kMost));
    double step = 1;
    if (range.find("step") != nullptr) {
      TRY_ASSIGN(step, range.number("step", kMost));
    }
    auto texts = sweep_range(from, to, step);
    if (!texts.ok()) return wrong(where, texts.error().message);
    return texts;
  }

  Result<SweepValue> plain_value(std::string_view axis, const toml::node& where,
                                 const std::string& text) const {
    const std::string key = sweep_setting_key(axis);
    if (!key.empty()) return SweepValue{.label = text, .settings = {{key, text}}};
    Error error = unknown(where, axis, {});
    error.message += "; an axis of another name holds tables of settings";
    return error;
  }

  // A text or a number, or a table of settings with a name.
  Result<SweepValue> read_value(std::string_view axis, const toml::node& node) const {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      TRY_ASSIGN(const std::string one, text(node, axis));
      return plain_value(axis, node, one);
    }
    SweepValue value;
    for (const auto& [key, entry] : TomlTable(name_, *table).entries()) {
      if (key == "name") {
        TRY_ASSIGN(value.label, text(*entry, key));
      } else {
        constexpr std::array<std::string_view, 1> kName = {"name"};
        TRY(add_setting(key, *entry, value.settings, kName));
      }
    }
    if (value.settings.empty()) return wrong(node, "the table has no setting");
    const auto own = value.settings.find(sweep_setting_key(axis));
    if (value.label.empty() && own != value.settings.end()) value.label = own->second;
    if (value.label.empty()) return wrong(node, "write name = \"...\" for this value");
    return value;
  }

  // { axis = value or list, ... }
  Result<std::vector<SweepChoice>> read_choices(const toml::table& table) const {
    std::vector<SweepChoice> choices;
    const auto add = [&](std::string_view axis, const toml::node& node) -> Status {
      TRY_ASSIGN(const std::vector<std::string> labels, texts(node, axis));
      auto choice = find_sweep_values(spec_, axis, labels);
      if (!choice.ok()) return wrong(node, choice.error().message);
      choices.push_back(std::move(choice).value());
      return {};
    };
    for (const auto& [key, node] : TomlTable(name_, table).entries()) {
      const toml::table* group = is_group(key) ? node->as_table() : nullptr;
      if (group == nullptr) {
        TRY(add(key, *node));
        continue;
      }
      for (const auto& [name, value] : TomlTable(name_, *group).entries()) {
        TRY(add(key == "option" ? fmt::format("option.{}", name) : std::string(name), *value));
      }
    }
    if (choices.empty()) return wrong(table, "names no axis");
    return choices;
  }

  Status read_exclusions(const TomlTable& top) {
    const toml::node* node = top.find("exclude");
    if (node == nullptr) return {};
    const toml::array* list = node->as_array();
    if (list == nullptr) return wrong(*node, "'exclude' must be written [[exclude]]");
    for (const toml::node& entry : *list) {
      TRY_ASSIGN(const toml::table* one, table(entry, "exclude"));
      TRY_ASSIGN(spec_.exclusions.emplace_back(), read_choices(*one));
    }
    return {};
  }

  Status read_baseline(const toml::node& node) {
    TRY_ASSIGN(const toml::table* one, table(node, "baseline"));
    TRY_ASSIGN(spec_.baseline, read_choices(*one));
    for (const SweepChoice& choice : spec_.baseline) {
      if (choice.values.size() == 1 && spec_.axes[choice.axis].name != "seed") continue;
      return wrong(node, "'baseline' takes one value of each axis, and no seed");
    }
    return {};
  }

  Status read_report(const toml::node& node) {
    TRY_ASSIGN(const toml::table* found, table(node, "report"));
    const TomlTable table(name_, *found);
    TRY(table.check_keys(std::array<std::string_view, 4>{"metrics", "x", "lines", "pareto"}));
    SweepReport& report = spec_.report;
    for (const auto& [key, value] : table.entries()) {
      TRY_ASSIGN(const std::vector<std::string> words, texts(*value, key));
      if (key == "metrics" || key == "pareto") {
        for (const std::string& metric : words) {
          if (Status known = check_metric(metric); !known.ok()) {
            return wrong(*value, known.error().message);
          }
        }
        if (key == "metrics") {
          report.metrics = words;
        } else if (words.size() == 2) {
          report.pareto = {words[0], words[1]};
        } else {
          return wrong(*value, "'pareto' takes two metrics");
        }
        continue;
      }
      if (auto axis = find_sweep_values(spec_, words[0], {}); !axis.ok()) {
        return wrong(*value, axis.error().message);
      }
      (key == "x" ? report.x : report.lines) = words[0];
    }
    return {};
  }

  std::string_view name_;
  SweepSpec spec_{};
};

}  // namespace

Result<SweepSpec> parse_sweep(std::string_view name, std::string_view text) {
  TRY_ASSIGN(const toml::table document, parse_toml(name, text));
  return SweepFile(name).read(document);
}

}  // namespace orrery
