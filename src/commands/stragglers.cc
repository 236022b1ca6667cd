#include "commands/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/grid.h"
#include "base/output_file.h"
#include "commands/straggler_figures.h"
#include "report/event_log/byte_stream.h"
#include "report/table.h"
#include "report/terminal/standard_output.h"
#include "training/step_trace/perfetto_trace.h"
#include "training/step_trace/step_trace_text.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

Result<RecordedSteps> read_steps(const StragglersArguments& arguments) {
  TRY_ASSIGN(const auto lines, LogLines::open(arguments.trace));
  StepTraceParser parser(arguments.trace);
  std::string line;
  while (true) {
    auto more = lines->next(line);
    if (!more.ok()) return std::move(more).error().at(arguments.trace);
    if (!more.value()) break;
    TRY(parser.add(line));
  }
  TRY_ASSIGN(const StepTrace trace, std::move(parser).finish());
  if (arguments.meta.empty()) return arrange_steps(trace, shape_of(trace));
  TRY_ASSIGN(const std::string meta, read_file(arguments.meta));
  TRY_ASSIGN(const TrainingShape shape, parse_training_shape(arguments.meta, meta));
  return arrange_steps(trace, shape);
}

Json numbered(const std::vector<PartSlowness>& parts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < parts.size(); ++i) json[std::to_string(i)] = parts[i].slowdown;
  return json;
}

std::string json_of(const StragglerAnalysis& analysis, double wall_s) {
  const auto optional = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json operations = Json::object();
  for (const NamedSlowness& each : analysis.by_operation) {
    operations[each.name] = each.part.slowdown;
  }
  const Json json = {{"slowdown", analysis.slowdown},
                     {"launch_slowdown", analysis.launch_slowdown},
                     {"by_worker", numbered(analysis.by_worker)},
                     {"by_stage", numbered(analysis.by_stage)},
                     {"by_operation", operations},
                     {"Mw", optional(analysis.slowest_ranks_gain)},
                     {"Ms", optional(analysis.last_stage_gain)},
                     {"wall_s", wall_s}};
  return json.dump() + "\n";
}

struct Row {
  std::string name{};
  PartSlowness part{};
  bool counts_others = false;  // has a name and nothing else
};

// The slowest first; the others only counted if there are many.
void add_rows(std::vector<Row>& rows, std::string_view what,
              const std::vector<PartSlowness>& parts) {
  constexpr std::size_t kMost = 8;
  std::vector<std::size_t> order(parts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return parts[i].slowdown; });
  for (std::size_t i = 0; i < std::min(kMost, order.size()); ++i) {
    rows.push_back({fmt::format("{} {}", what, order[i]), parts[order[i]]});
  }
  if (order.size() > kMost) {
    rows.push_back(
        {.name = fmt::format("{} {}s more", order.size() - kMost, what), .counts_others = true});
  }
}

std::string subtitle_of(const RecordedSteps& recorded, const StragglerAnalysis& analysis) {
  std::string text =
      fmt::format("{} steps of {} workers", recorded.steps.size(), recorded.shape.workers);
  if (recorded.shape.stages > 1) text += fmt::format(" with {} stages", recorded.shape.stages);
  return text + fmt::format("; a step takes {}, of which {:.1f} % are gaps between operations",
                            human_duration(analysis.recorded_step_s),
                            100 * std::max(0.0, 1 - 1 / analysis.launch_slowdown));
}

std::string parts_table(const std::vector<Row>& rows) {
  const std::vector<GridColumn> columns = {
      {"part", true}, {"slow-down, if alone"}, {"step without it"}, {"gain"}};
  std::vector<std::optional<double>> steps_s;
  for (const Row& row : rows) {
    steps_s.push_back(row.counts_others ? std::nullopt : std::optional(row.part.step_s));
  }
  const std::vector<std::string> steps = duration_column(steps_s);
  std::vector<std::vector<std::string>> cells;
  for (const Row& row : rows) {
    auto& line = cells.emplace_back(std::vector{row.name});
    if (row.counts_others) continue;
    line.push_back(fmt::format("{:.3f}", row.part.slowdown));
    line.push_back(steps[cells.size() - 1]);
    line.push_back(row.part.gain ? fmt::format("{:.1f} %", 100 * *row.part.gain) : "-");
  }
  return grid(columns, cells);
}

std::string text_of(const RecordedSteps& recorded, const StragglerAnalysis& analysis) {
  std::vector<Row> rows;
  rows.push_back(
      {"all", {.slowdown = analysis.slowdown, .gain = 1, .step_s = analysis.ideal_step_s}});
  if (recorded.workers() > 1) add_rows(rows, "worker", analysis.by_worker);
  if (recorded.stages() > 1) add_rows(rows, "stage", analysis.by_stage);
  for (const NamedSlowness& each : analysis.by_operation) rows.push_back({each.name, each.part});
  std::string text = straggler_verdict(recorded, analysis) + "\n" +
                     subtitle_of(recorded, analysis) + ".\n\n" + parts_table(rows);
  const auto add = [&](std::string_view what, const std::optional<double>& gain) {
    if (gain) text += fmt::format("{}: {:.1f} %\n", what, 100 * *gain);
  };
  text += "\n";
  add("Gain without the slowness of the slowest 3 % of ranks (M_W)", analysis.slowest_ranks_gain);
  add("Gain without the slowness of the last stage (M_S)", analysis.last_stage_gain);
  return text;
}

Status write_perfetto(const std::string& path, const RecordedSteps& recorded,
                      const StepTimes& ideal) {
  TRY_ASSIGN(const auto file, ByteWriter::open(path));
  TRY(write_perfetto_trace(recorded, ideal,
                           [&](std::string_view text) { return file->write(text); }));
  return file->finish();
}

}  // namespace

Status stragglers_command(const StragglersArguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  const NamedFile outputs[] = {{"--report", arguments.report}, {"--perfetto", arguments.perfetto}};
  const NamedFile inputs[] = {{"the trace", arguments.trace}, {"--meta", arguments.meta}};
  TRY(check_outputs(outputs, inputs));
  TRY_ASSIGN(const RecordedSteps recorded, read_steps(arguments));
  TRY_ASSIGN(const StepGraph graph, make_step_graph(recorded));
  StepReplay replay(recorded, graph);
  const bool by_rank = !arguments.json || !arguments.report.empty();
  const StragglerAnalysis analysis = analyse_stragglers(recorded, replay, {.by_rank = by_rank});
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const StepTimes& ideal = replay.replay(ideal_durations(recorded, replay.own_durations()));
  if (!arguments.report.empty()) {
    const ReportHeadline headline{.title = recorded.shape.experiment.empty()
                                               ? "Stragglers"
                                               : "Stragglers of " + recorded.shape.experiment,
                                  .subtitle = subtitle_of(recorded, analysis),
                                  .verdict = straggler_verdict(recorded, analysis)};
    TRY(write_output(arguments.report,
                     html_report({}, straggler_figures(recorded, analysis, ideal), headline)));
  }
  if (!arguments.perfetto.empty()) TRY(write_perfetto(arguments.perfetto, recorded, ideal));
  return print_text(arguments.json ? json_of(analysis, wall.count()) : text_of(recorded, analysis));
}

}  // namespace orrery
