#include "experiments/sweep/sweep_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/number_checks.h"
#include "experiments/runs/run_texts.h"
#include "report/csv.h"
#include "scheduling/policy/registry.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

constexpr std::size_t kPointsMax = 1'000'000;
constexpr std::string_view kOption = "option.";
constexpr std::string_view kGenerator = "generator.";

std::string_view setting(const SweepSettings& settings, const char* key) {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string_view() : std::string_view(found->second);
}

// The settings that reach a run, with the parameters of its generator in its trace.
class Applied {
 public:
  Result<SweepPoint> point(const SweepSettings& wanted) {
    SweepPoint point;
    for (const char* key : {"trace", "cluster", "policy"}) {
      if (wanted.contains(key)) continue;
      return invalid(fmt::format("a run has no {0}; write {0} = \"...\" or an axis of it", key));
    }
    point.trace = setting(wanted, "trace");
    const std::string text(setting(wanted, "policy"));
    TRY_ASSIGN(std::vector<NamedPolicy> policies, parse_policies({&text, 1}, {}));
    ChosenPolicy& policy = policies[0].policy;
    for (const auto& [key, value] : wanted) {
      if (key.starts_with(kGenerator)) {
        const std::string_view option = std::string_view(key).substr(kGenerator.size());
        if (!lacks_option(point.trace, option)) continue;
        point.trace = with_option(point.trace, option, value);
      } else if (key.starts_with(kOption)) {
        const std::string option = key.substr(kOption.size());
        if (!takes_option(policy.name, option) || policy.options.contains(option)) continue;
        policy.options.emplace(option, value);
      }
      reached_.insert(key);
      point.settings.emplace(key, value);
    }
    point.cluster = setting(wanted, "cluster");
    point.label = policies[0].label;
    point.run.policy = std::move(policy);
    TRY(read_numbers(point));
    return point;
  }

  bool has_reached(const std::string& key) const { return reached_.contains(key); }

 private:
  static Result<std::int64_t> whole(const SweepPoint& point, const char* key) {
    const std::string text(setting(point.settings, key));
    if (text.empty()) return std::int64_t{0};
    if (const std::string problem = check_whole_number(text, 0, INT64_MAX); !problem.empty()) {
      return invalid(fmt::format("{} = {}: {}", key, text, problem));
    }
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  static Status read_numbers(SweepPoint& point) {
    const SweepSettings& settings = point.settings;
    TRY_ASSIGN(const std::int64_t seed, whole(point, "seed"));
    point.run.policy.seed = static_cast<std::uint64_t>(seed);
    if (settings.contains("seed") && lacks_option(point.trace, "seed")) {
      point.trace = with_option(point.trace, "seed", fmt::to_string(seed));
    }
    if (const auto semantics = setting(settings, "semantics"); !semantics.empty()) {
      TRY_ASSIGN(point.run.semantics, parse_semantics(semantics));
    }
    if (const std::string error(setting(settings, "speed-error")); !error.empty()) {
      if (const std::string problem = check_number_between(error, 0, 0.9); !problem.empty()) {
        return invalid(fmt::format("speed-error = {}: {}", error, problem));
      }
      std::from_chars(error.data(), error.data() + error.size(), point.run.speed_error);
    }
    TRY_ASSIGN(point.run.policy.round, parse_round(std::string(setting(settings, "round"))));
    TRY_ASSIGN(point.run.window, parse_window(std::string(setting(settings, "window"))));
    TRY_ASSIGN(point.reading.limit, whole(point, "limit"));
    if (settings.contains("trace-format")) point.reading.format = setting(settings, "trace-format");
    point.reading.profiles = setting(settings, "profiles");
    point.reading.gpu_type = setting(settings, "gpu-type");
    if (point.trace != "-") return {};
    return invalid("trace '-': a sweep reads its traces several times; name a file");
  }

  std::set<std::string> reached_;
};

Status check_grid(const SweepSpec& spec, const std::vector<SweepChoice>& grid) {
  std::map<std::string, std::string> owner;
  double points = 1;
  for (const SweepChoice& choice : grid) {
    const SweepAxis& axis = spec.axes[choice.axis];
    points *= static_cast<double>(choice.values.size());
    for (const std::size_t value : choice.values) {
      for (const auto& [key, text] : axis.values[value].settings) {
        const auto& set_by = owner.emplace(key, axis.name).first->second;
        if (set_by == axis.name) continue;
        return invalid(fmt::format("the axes {} and {} both set {}", set_by, axis.name, key));
      }
    }
  }
  if (points <= kPointsMax) return {};
  return invalid(fmt::format("{:.0f} runs are more than {}", points, kPointsMax));
}

bool is_excluded(const SweepSpec& spec, const std::vector<std::size_t>& values) {
  return std::ranges::any_of(spec.exclusions, [&](const auto& exclusion) {
    return std::ranges::all_of(exclusion, [&](const SweepChoice& choice) {
      return std::ranges::find(choice.values, values[choice.axis]) != choice.values.end();
    });
  });
}

class PlanMaker {
 public:
  explicit PlanMaker(const SweepSpec& spec) : spec_(spec) {}

  Status add(const std::vector<SweepChoice>& grid) {
    TRY(check_grid(spec_, grid));
    std::vector<std::size_t> at(grid.size());
    while (true) {
      TRY(add_point(grid, at));
      std::size_t digit = grid.size();
      while (digit > 0 && ++at[digit - 1] == grid[digit - 1].values.size()) at[--digit] = 0;
      if (digit == 0) return {};
    }
  }

  Result<std::vector<SweepPoint>> points() && {
    if (points_.empty()) return invalid("the sweep has no run; [[exclude]] leaves none");
    const auto reached = [&](const SweepSettings& settings) {
      return std::ranges::all_of(settings, [&](const auto& pair) {
        return (!pair.first.starts_with(kOption) && !pair.first.starts_with(kGenerator)) ||
               applied_.has_reached(pair.first);
      });
    };
    const auto complain = [](std::string_view what) {
      return invalid(
          fmt::format("{} reaches no run: a policy must know an option, a generator must have a "
                      "parameter, and neither may state a value itself",
                      what));
    };
    for (const auto& [key, value] : spec_.common) {
      if (!reached({{key, value}})) return complain(key);
    }
    for (const SweepAxis& axis : spec_.axes) {
      for (const SweepValue& value : axis.values) {
        if (!reached(value.settings)) return complain("the axis " + axis.name);
      }
    }
    return std::move(points_);
  }

 private:
  Status add_point(const std::vector<SweepChoice>& grid, const std::vector<std::size_t>& at) {
    SweepSettings wanted = spec_.common;
    std::vector<std::size_t> values(spec_.axes.size(), kNoValue);
    for (std::size_t i = 0; i < grid.size(); ++i) {
      values[grid[i].axis] = grid[i].values[at[i]];
      const SweepValue& value = spec_.axes[grid[i].axis].values[values[grid[i].axis]];
      for (const auto& [key, text] : value.settings) wanted.insert_or_assign(key, text);
    }
    if (is_excluded(spec_, values)) return {};
    TRY_ASSIGN(SweepPoint point, applied_.point(wanted));
    for (const SweepChoice& choice : grid) {
      std::size_t& value = values[choice.axis];
      const SweepSettings& settings = spec_.axes[choice.axis].values[value].settings;
      const bool reaches = std::ranges::any_of(
          settings, [&](const auto& pair) { return point.settings.contains(pair.first); });
      if (!reaches) value = kNoValue;
    }
    if (!seen_.insert(values).second) return {};
    point.values = std::move(values);
    points_.push_back(std::move(point));
    return {};
  }

  const SweepSpec& spec_;
  Applied applied_;
  std::set<std::vector<std::size_t>> seen_;
  std::vector<SweepPoint> points_;
};

// The first policy, or the first value of the first axis that has several.
std::vector<SweepChoice> default_baseline(const SweepPlan& plan) {
  const auto is_candidate = [](const SweepAxis& axis) {
    return axis.values.size() > 1 && axis.name != "seed";
  };
  auto axis = std::ranges::find_if(
      plan.axes, [&](const SweepAxis& one) { return is_candidate(one) && one.name == "policy"; });
  if (axis == plan.axes.end()) axis = std::ranges::find_if(plan.axes, is_candidate);
  if (axis == plan.axes.end()) return {};
  return {{.axis = static_cast<std::size_t>(axis - plan.axes.begin()), .values = {0}}};
}

// An option axis may reach a run and not the baseline, or the other way round. A run is compared
// with the baseline run that has its values on every axis that reaches that one.
void set_baseline_of(SweepPlan& plan) {
  const auto with_baseline = [&](std::vector<std::size_t> values) {
    for (const SweepChoice& choice : plan.baseline) values[choice.axis] = choice.values[0];
    return values;
  };
  std::map<std::vector<std::size_t>, std::size_t> runs;
  std::set<std::vector<bool>> reaches;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const std::vector<std::size_t>& values = plan.points[i].values;
    if (with_baseline(values) != values) continue;
    runs.emplace(values, i);
    std::vector<bool> reached;
    for (const std::size_t value : values) reached.push_back(value != kNoValue);
    reaches.insert(std::move(reached));
  }
  plan.baseline_of.resize(plan.points.size());
  if (plan.baseline.empty()) return;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const std::vector<std::size_t> wanted = with_baseline(plan.points[i].values);
    if (wanted == plan.points[i].values) continue;
    for (const std::vector<bool>& reached : reaches) {
      std::vector<std::size_t> values = wanted;
      for (std::size_t axis = 0; axis < values.size(); ++axis) {
        if (!reached[axis]) values[axis] = kNoValue;
      }
      if (const auto found = runs.find(values); found != runs.end()) {
        plan.baseline_of[i] = found->second;
      }
    }
  }
}

}  // namespace

std::string_view SweepPlan::label(const SweepPoint& point, std::size_t axis) const {
  const std::size_t value = point.values[axis];
  return value == kNoValue ? std::string_view() : std::string_view(axes[axis].values[value].label);
}

std::string SweepPlan::column(std::size_t axis) const {
  static const std::vector<std::string> fields = field_names();
  const std::string& name = axes[axis].name;
  const auto& settings = sweep_setting_names();
  if (std::ranges::find(fields, name) == fields.end() ||
      std::ranges::find(settings, name) != settings.end()) {
    return name;
  }
  return fmt::format("{}{}", kGenerator, name);
}

std::string SweepPlan::baseline_text() const {
  std::vector<std::string> parts;
  for (const SweepChoice& choice : baseline) {
    parts.push_back(fmt::format("{}={}", axes[choice.axis].name,
                                axes[choice.axis].values[choice.values[0]].label));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string SweepPlan::text_of(const SweepPoint& point) const {
  std::vector<std::string> parts;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (const auto text = label(point, axis); !text.empty()) {
      parts.push_back(fmt::format("{}={}", axes[axis].name, text));
    }
  }
  if (parts.empty()) return point.label;
  return fmt::format("{}", fmt::join(parts, ", "));
}

Result<SweepPlan> plan_sweep(const SweepSpec& spec) {
  PlanMaker maker(spec);
  for (const auto& grid : spec.grids) TRY(maker.add(grid));
  SweepPlan plan;
  plan.axes = spec.axes;
  plan.report = spec.report;
  TRY_ASSIGN(plan.points, std::move(maker).points());
  plan.seed_axis = spec.find_axis("seed");
  plan.baseline = spec.baseline.empty() ? default_baseline(plan) : spec.baseline;
  set_baseline_of(plan);
  return plan;
}

}  // namespace orrery
