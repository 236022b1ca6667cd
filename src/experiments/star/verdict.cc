#include "experiments/star/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/statistics.h"

namespace orrery {
namespace {

// What STAR has to show (docs/systems/star.md).
constexpr double kGainOverSsgd = 0.48;     // under a steady slow worker and a cut link
constexpr double kRegret = 0.15;           // against the best fixed mode known afterwards
constexpr double kRivalsLead = 0.05;       // no rival may be further below
constexpr double kCostWithoutNeed = 0.05;  // against ssgd where no worker straggles
constexpr double kAccuracyLoss = 0.005;    // in the end, against ssgd

constexpr double kMissed = std::numeric_limits<double>::infinity();

std::optional<double> middle(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const double found = median(std::move(values));
  return found == kMissed ? std::nullopt : std::optional(found);
}

ModeTimes times_of(const MatrixMode& mode, std::span<const MatrixRun> runs,
                   const RunResults& results) {
  ModeTimes times;
  times.mode = &mode;
  std::vector<double> all, accuracies, cpu;
  for (const MatrixRun& run : runs) {
    const auto found = results.find(run.name());
    if (found == results.end()) continue;
    const RunResult& result = found->second;
    if (!result.problem.empty()) {
      times.problems.push_back(fmt::format("{}: {}", run.name(), result.problem));
    } else if (!result.trusted()) {
      ++times.untrusted;
    } else if (!run.to_target) {
      accuracies.push_back(result.final_accuracy.value_or(0));
    } else {
      ++times.runs;
      if (result.task_cpu_s() > 0) cpu.push_back(result.task_cpu_s());
      all.push_back(result.time_to_target_s.value_or(kMissed));
      if (result.time_to_target_s) {
        times.times_s.push_back(*result.time_to_target_s);
      } else {
        ++times.missed;
      }
    }
  }
  std::ranges::sort(times.times_s);
  times.median_s = middle(all);
  times.accuracy = middle(accuracies);
  times.task_cpu_s = middle(cpu);
  return times;
}

// What is known of a mode: its median, or that it is beyond every limit, or nothing.
std::optional<double> known(const ModeTimes* times) {
  if (times == nullptr || times->runs == 0) return std::nullopt;
  return times->median_s.value_or(kMissed);
}

std::string shown(double value_s) {
  return value_s == kMissed ? "not reached" : fmt::format("{:.1f} s", value_s);
}

const ModeTimes* find(const CellVerdict& cell, std::string_view name) {
  const auto found =
      std::ranges::find(cell.modes, name, [](const ModeTimes& m) { return m.mode->name; });
  return found == cell.modes.end() ? nullptr : &*found;
}

const ModeTimes* best(const CellVerdict& cell, ModeRole role) {
  const ModeTimes* least = nullptr;
  for (const ModeTimes& mode : cell.modes) {
    if (mode.mode->role != role || !known(&mode)) continue;
    if (least == nullptr || *known(&mode) < *known(least)) least = &mode;
  }
  return least;
}

// What is left of the difference if a gradient had cost both the same CPU: a machine whose own
// speed wanders shows in that cost. In all-reduce modes themselves differ in it, by what they send.
std::string at_equal_cost(const CellVerdict& cell, const ModeTimes& star, const ModeTimes& other) {
  if (cell.architecture != "ps" || !star.task_cpu_s || !other.task_cpu_s) return "";
  const double ratio = *star.median_s / *star.task_cpu_s / (*other.median_s / *other.task_cpu_s);
  return fmt::format(" ({:+.1f} % at equal CPU a gradient)", (ratio - 1) * 100);
}

// "star 12.0 s, ssgd 20.0 s: -40.0 % (-38.0 % at equal CPU a gradient)".
void claim(CellVerdict& cell, std::string what, const ModeTimes* other, double most_ratio) {
  const std::optional<double> star = known(find(cell, "star")), theirs = known(other);
  CellClaim made{std::move(what), std::nullopt, ""};
  if (star && theirs) {
    made.holds = *star != kMissed && (*theirs == kMissed || *star <= most_ratio * *theirs);
    made.figures = fmt::format("star {}, {} {}", shown(*star), other->mode->name, shown(*theirs));
    if (*star != kMissed && *theirs != kMissed) {
      made.figures += fmt::format(": {:+.1f} %", (*star / *theirs - 1) * 100);
      made.figures += at_equal_cost(cell, *find(cell, "star"), *other);
    }
  }
  cell.claims.push_back(std::move(made));
}

void claim_accuracy(CellVerdict& cell) {
  const ModeTimes *star = find(cell, "star"), *ssgd = find(cell, "ssgd");
  CellClaim made{"final accuracy within 0.5 points of ssgd's", std::nullopt, ""};
  if (star != nullptr && ssgd != nullptr && star->accuracy && ssgd->accuracy) {
    made.holds = *star->accuracy >= *ssgd->accuracy - kAccuracyLoss;
    made.figures =
        fmt::format("star {:.2f} %, ssgd {:.2f} %", *star->accuracy * 100, *ssgd->accuracy * 100);
  }
  cell.claims.push_back(std::move(made));
}

void judge(CellVerdict& cell) {
  const ModeTimes* ssgd = find(cell, "ssgd");
  if (cell.pattern->steady_loss) {
    claim(cell, "at least 48 % below ssgd", ssgd, 1 - kGainOverSsgd);
  }
  if (cell.pattern->script.empty()) {
    claim(cell, "within 5 % of ssgd", ssgd, 1 + kCostWithoutNeed);
  }
  claim(cell, "within 15 % of the best fixed mode", best(cell, ModeRole::Fixed), 1 + kRegret);
  claim(cell, "no rival more than 5 % below", best(cell, ModeRole::Rival), 1 / (1 - kRivalsLead));
  claim_accuracy(cell);
  const std::optional<double> star = known(find(cell, "star"));
  cell.lowest =
      star && *star != kMissed && std::ranges::none_of(cell.modes, [&](const ModeTimes& mode) {
        return known(&mode) && *known(&mode) < *star;
      });
}

}  // namespace

std::vector<CellVerdict> judge_matrix(std::span<const MatrixRun> runs, const RunResults& results) {
  std::vector<CellVerdict> cells;
  const auto same = [](const CellVerdict& cell, const MatrixRun& run) {
    return std::tie(cell.workload, cell.architecture, cell.pattern) ==
           std::tie(run.workload, run.architecture, run.pattern);
  };
  for (const MatrixRun& run : runs) {
    if (std::ranges::any_of(cells, [&](const CellVerdict& cell) { return same(cell, run); })) {
      continue;
    }
    CellVerdict& cell = cells.emplace_back();
    cell.workload = run.workload;
    cell.architecture = run.architecture;
    cell.pattern = run.pattern;
    for (const MatrixMode& mode : matrix_modes(run.architecture)) {
      std::vector<MatrixRun> own;
      for (const MatrixRun& other : runs) {
        if (same(cell, other) && other.mode == &mode) own.push_back(other);
      }
      if (!own.empty()) cell.modes.push_back(times_of(mode, own, results));
    }
    judge(cell);
  }
  return cells;
}

}  // namespace orrery
