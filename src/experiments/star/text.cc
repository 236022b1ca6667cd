#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/grid.h"
#include "experiments/star/verdict.h"
#include "report/page/chart.h"
#include "report/page/html.h"

namespace orrery {
namespace {

std::string title(const CellVerdict& cell) {
  return fmt::format("{}, {}, {}", cell.workload->name,
                     cell.architecture == "ps" ? "parameter servers" : "all-reduce",
                     cell.pattern->name);
}

std::string verdict(const CellClaim& claim) {
  return !claim.holds ? "not run" : *claim.holds ? "holds" : "FAILS";
}

std::string cell_text(const CellVerdict& cell) {
  std::vector<std::vector<std::string>> rows;
  for (const ModeTimes& mode : cell.modes) {
    auto& row = rows.emplace_back();
    row.emplace_back(mode.mode->name);
    row.push_back(mode.median_s   ? fmt::format("{:.1f}", *mode.median_s)
                  : mode.runs > 0 ? "not reached"
                                  : "-");
    row.push_back(mode.times_s.empty()
                      ? "-"
                      : fmt::format("{:.1f} to {:.1f}", mode.times_s.front(), mode.times_s.back()));
    row.push_back(fmt::format("{}", mode.runs));
    row.push_back(mode.missed > 0 ? fmt::format("{}", mode.missed) : "");
    row.push_back(mode.untrusted > 0 ? fmt::format("{}", mode.untrusted) : "");
    row.push_back(mode.task_cpu_s ? fmt::format("{:.1f}", *mode.task_cpu_s * 1000) : "");
    row.push_back(mode.accuracy ? fmt::format("{:.2f}", *mode.accuracy * 100) : "");
  }
  const std::vector<GridColumn> columns = {{"mode", true}, {"median s"},  {"spread"}, {"runs"},
                                           {"missed"},     {"untrusted"}, {"CPU ms"}, {"final %"}};
  std::string text = title(cell) + "\n" + grid(columns, rows);
  for (const CellClaim& claim : cell.claims) {
    text += fmt::format("  {:<8}{}{}{}\n", verdict(claim), claim.what,
                        claim.figures.empty() ? "" : ": ", claim.figures);
  }
  for (const ModeTimes& mode : cell.modes) {
    for (const std::string& problem : mode.problems) text += "  failed  " + problem + "\n";
  }
  return text;
}

}  // namespace

std::string matrix_text(std::span<const CellVerdict> cells) {
  std::string text;
  int lowest = 0, judged = 0, held = 0, failed = 0, open = 0;
  for (const CellVerdict& cell : cells) {
    text += cell_text(cell) + "\n";
    const auto star = std::ranges::find(cell.modes, ModeRole::Star,
                                        [](const ModeTimes& mode) { return mode.mode->role; });
    if (star != cell.modes.end() && star->runs > 0) ++judged;
    if (cell.lowest) ++lowest;
    for (const CellClaim& claim : cell.claims) {
      ++(!claim.holds ? open : *claim.holds ? held : failed);
    }
  }
  return text +
         fmt::format("star is lowest in {} of {} cells; {} claims hold, {} fail, {} not run\n",
                     lowest, judged, held, failed, open);
}

std::string matrix_json(std::span<const CellVerdict> cells) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const CellVerdict& cell : cells) {
    nlohmann::ordered_json one{{"workload", cell.workload->name},
                               {"architecture", cell.architecture},
                               {"pattern", cell.pattern->name},
                               {"lowest", cell.lowest}};
    for (const ModeTimes& mode : cell.modes) {
      nlohmann::ordered_json times{{"mode", mode.mode->name},   {"median_s", nullptr},
                                   {"times_s", mode.times_s},   {"runs", mode.runs},
                                   {"missed", mode.missed},     {"untrusted", mode.untrusted},
                                   {"final_accuracy", nullptr}, {"problems", mode.problems}};
      if (mode.median_s) times["median_s"] = *mode.median_s;
      if (mode.accuracy) times["final_accuracy"] = *mode.accuracy;
      if (mode.task_cpu_s) times["task_cpu_s"] = *mode.task_cpu_s;
      one["modes"].push_back(std::move(times));
    }
    for (const CellClaim& claim : cell.claims) {
      nlohmann::ordered_json made{
          {"claim", claim.what}, {"holds", nullptr}, {"figures", claim.figures}};
      if (claim.holds) made["holds"] = *claim.holds;
      one["claims"].push_back(std::move(made));
    }
    all.push_back(std::move(one));
  }
  return nlohmann::ordered_json{{"cells", all}}.dump(1) + "\n";
}

std::string matrix_page(std::span<const CellVerdict> cells, std::span<const MatrixRun> runs,
                        const RunResults& results) {
  std::vector<ReportFigure> figures;
  for (const CellVerdict& cell : cells) {
    LineChart chart{.title = "accuracy over time, " + title(cell),
                    .x_label = "seconds",
                    .y_label = "accuracy, per cent",
                    .lines = {}};
    int colour = 0;
    for (const ModeTimes& mode : cell.modes) {
      for (const MatrixRun& run : runs) {
        if (run.mode != mode.mode || run.workload != cell.workload || !run.to_target ||
            run.architecture != cell.architecture || run.pattern != cell.pattern) {
          continue;
        }
        const auto result = results.find(run.name());
        if (result == results.end() || result->second.curve.empty()) continue;
        LineChart::Line line{
            std::string(mode.mode->name), {}, colour, mode.mode->role == ModeRole::Rival, false};
        for (const auto& [at_s, accuracy] : result->second.curve) {
          line.points.emplace_back(at_s, accuracy * 100);
        }
        chart.lines.push_back(std::move(line));
        break;  // one seed a mode is drawn, the first that was run
      }
      ++colour;
    }
    if (chart.lines.empty()) continue;
    std::string caption = "Solid: STAR and fixed modes; dashed: rivals. The first seed of each.";
    for (const CellClaim& claim : cell.claims) {
      if (claim.holds) caption += fmt::format(" {}: {}.", claim.what, verdict(claim));
    }
    figures.push_back({title(cell), caption, svg(chart)});
  }
  return html_report({}, figures);
}

}  // namespace orrery
