#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/grid.h"
#include "base/statistics.h"
#include "experiments/star/two_jobs.h"

namespace orrery {
namespace {

constexpr double kMissed = std::numeric_limits<double>::infinity();

std::optional<double> middle(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

std::string_view arm_name(TwoJobsArm arm) {
  switch (arm) {
    case TwoJobsArm::AloneA:
      return "A alone";
    case TwoJobsArm::AloneB:
      return "B alone";
    case TwoJobsArm::Without:
      return "both, without consideration";
    case TwoJobsArm::With:
      return "both, with consideration";
  }
  return "";
}

// What can be counted of one run; nothing where it failed or the machine was too busy.
struct Times {
  std::optional<double> a_s{}, b_s{};
  double limits_moved = 0;
};

std::optional<Times> times_of(const TwoJobsRun& run, const TwoJobsResults& results) {
  const auto found = results.find(run.name());
  if (found == results.end()) return std::nullopt;
  const TwoJobsResult& result = found->second;
  if ((result.a && !result.a->problem.empty()) || (result.a && !result.a->trusted()) ||
      (result.b && !result.b->trusted())) {
    return std::nullopt;
  }
  Times times;
  if (result.a) times.a_s = result.a->time_to_target_s.value_or(kMissed);
  if (result.b) times.b_s = result.b->training_s;
  if (result.a) times.limits_moved += static_cast<double>(result.a->tally.limits_moved);
  if (result.b) times.limits_moved += static_cast<double>(result.b->tally.limits_moved);
  return times;
}

TwoJobsRow row_of(TwoJobsArm arm, std::span<const TwoJobsRun> runs, const TwoJobsResults& results) {
  TwoJobsRow row{.arm = arm};
  std::vector<double> a_s, b_s, a_slow, b_slow, total, moved;
  for (const TwoJobsRun& run : runs) {
    if (run.arm != arm) continue;
    const auto times = times_of(run, results);
    if (!times) {
      const auto found = results.find(run.name());
      const bool failed =
          found != results.end() && found->second.a && !found->second.a->problem.empty();
      row.untrusted += found != results.end() && !failed ? 1 : 0;
      continue;
    }
    ++row.runs;
    if (times->a_s) a_s.push_back(*times->a_s);
    if (times->b_s) b_s.push_back(*times->b_s);
    moved.push_back(times->limits_moved);
    const auto alone_a = times_of({TwoJobsArm::AloneA, run.seed}, results);
    const auto alone_b = times_of({TwoJobsArm::AloneB, run.seed}, results);
    if (!alone_a || !alone_b || !times->a_s || !times->b_s) continue;
    if (!(*alone_b->b_s > 0) || *alone_a->a_s == kMissed) continue;
    a_slow.push_back(*times->a_s / *alone_a->a_s);
    b_slow.push_back(*times->b_s / *alone_b->b_s);
    total.push_back(a_slow.back() + b_slow.back());
  }
  row.a_s = middle(a_s);
  row.b_s = middle(b_s);
  row.a_slowdown = middle(a_slow);
  row.b_slowdown = middle(b_slow);
  row.total = middle(total);
  row.limits_moved = middle(moved);
  return row;
}

std::string shown(const std::optional<double>& value, int digits) {
  if (!value) return "-";
  return *value == kMissed ? "not reached" : fmt::format("{:.{}f}", *value, digits);
}

std::string verdict_word(const std::optional<bool>& holds) {
  return !holds ? "not run" : *holds ? "holds" : "FAILS";
}

nlohmann::ordered_json json_of(const std::optional<double>& value) {
  if (!value || *value == kMissed) return nullptr;
  return *value;
}

}  // namespace

TwoJobsVerdict judge_two_jobs(std::span<const TwoJobsRun> runs, const TwoJobsResults& results) {
  TwoJobsVerdict verdict;
  for (const TwoJobsArm arm : kTwoJobsArms) verdict.rows.push_back(row_of(arm, runs, results));
  for (const auto& [name, result] : results) {
    if (result.a && !result.a->problem.empty()) {
      verdict.problems.push_back(fmt::format("{}: {}", name, result.a->problem));
    }
  }
  const TwoJobsRow& without = verdict.rows[2];
  const TwoJobsRow& with = verdict.rows[3];
  if (with.a_s && without.a_s) verdict.a_is_faster = *with.a_s < *without.a_s;
  if (with.total && without.total) verdict.total_no_worse = *with.total <= *without.total;
  return verdict;
}

std::string two_jobs_text(const TwoJobsVerdict& verdict) {
  std::vector<std::vector<std::string>> rows;
  for (const TwoJobsRow& row : verdict.rows) {
    rows.push_back({std::string(arm_name(row.arm)), shown(row.a_s, 1), shown(row.b_s, 1),
                    shown(row.a_slowdown, 2), shown(row.b_slowdown, 2), shown(row.total, 2),
                    shown(row.limits_moved, 0), fmt::to_string(row.runs),
                    row.untrusted > 0 ? fmt::to_string(row.untrusted) : ""});
  }
  const std::vector<GridColumn> columns = {{"two jobs on three servers", true},
                                           {"A to target s"},
                                           {"B s"},
                                           {"A slower"},
                                           {"B slower"},
                                           {"total"},
                                           {"moved"},
                                           {"runs"},
                                           {"untrusted"}};
  std::string text = grid(columns, rows);
  text += fmt::format("  {:<8}the straggling job reaches its target earlier with consideration\n",
                      verdict_word(verdict.a_is_faster));
  text += fmt::format("  {:<8}total slow-down with consideration no worse than without\n",
                      verdict_word(verdict.total_no_worse));
  for (const std::string& problem : verdict.problems) text += "  failed  " + problem + "\n";
  return text;
}

std::string two_jobs_json(const TwoJobsVerdict& verdict) {
  nlohmann::ordered_json all{{"rows", nlohmann::ordered_json::array()},
                             {"a_is_faster", nullptr},
                             {"total_no_worse", nullptr},
                             {"problems", verdict.problems}};
  for (const TwoJobsRow& row : verdict.rows) {
    all["rows"].push_back({{"arm", arm_name(row.arm)},
                           {"a_to_target_s", json_of(row.a_s)},
                           {"b_s", json_of(row.b_s)},
                           {"a_slowdown", json_of(row.a_slowdown)},
                           {"b_slowdown", json_of(row.b_slowdown)},
                           {"total_slowdown", json_of(row.total)},
                           {"limits_moved", json_of(row.limits_moved)},
                           {"runs", row.runs},
                           {"untrusted", row.untrusted}});
  }
  if (verdict.a_is_faster) all["a_is_faster"] = *verdict.a_is_faster;
  if (verdict.total_no_worse) all["total_no_worse"] = *verdict.total_no_worse;
  return all.dump(1) + "\n";
}

}  // namespace orrery
