#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/grid.h"
#include "base/plain_text.h"
#include "report/metrics/job_comparison.h"

namespace orrery {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

enum class Tone { None, Better, Worse };

struct Cell {
  std::string text;
  Tone tone = Tone::None;
};

struct Column {
  std::string title;
  int drop_rank = 0;  // the smallest goes first; 0: stays
  bool ratio = false;
  std::vector<Cell> cells;
  std::size_t width = 0;
};

using Block = std::vector<const RunSummary*>;

std::string cut(std::string_view text, std::size_t width) {
  if (columns_of(text) <= width) return std::string(text);
  if (width < 3) return std::string(width, '.');
  std::size_t end = 0;
  for (std::size_t shown = 0; end < text.size(); ++end) {
    if ((text[end] & 0xC0) == 0x80) continue;
    if (shown++ == width - 2) break;
  }
  return std::string(text.substr(0, end)) + "..";
}

// Names come from files; a control character in one must not reach the terminal.
std::string printable(std::string_view text) { return plain_text(text); }

std::string three_digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

struct Unit {
  std::string_view name;
  double length_s;
  double from_s;  // where people begin to use it
};
constexpr Unit kUnits[] = {
    {"d", 86400, 48 * 3600}, {"h", 3600, 120 * 60}, {"min", 60, 120}, {"s", 1, 0}};

const Unit& unit_of(double value_s) {
  return *std::ranges::find_if(kUnits, [=](const Unit& unit) {
    return std::abs(value_s) >= unit.from_s || unit.from_s == 0;
  });
}

// One unit for a whole column, so that rows compare at a glance: that of the longest, or a smaller
// one in which the shortest does not vanish.
const Unit& unit_of(double shortest_s, double longest_s) {
  const Unit* unit = &unit_of(longest_s);
  while (unit->from_s > 0 && shortest_s < unit->length_s / 10) ++unit;
  return *unit;
}

Cell percent_cell(const std::optional<double>& value) {
  return {value ? fmt::format("{:.1f} %", *value * 100) : "-", {}};
}

// How much better the smaller of the two is.
Cell ratio_cell(const std::optional<double>& first, const std::optional<double>& value) {
  if (!first || !value || !(*first > 0) || !(*value > 0)) return {"-", {}};
  const double times = *first / *value;
  if (std::abs(times - 1) < 0.005) return {"same", {}};
  const auto text = [](double t) { return t < 1000 ? three_digits(t) : ">1000"; };
  if (times > 1) return {fmt::format("x{} better", text(times)), Tone::Better};
  return {fmt::format("x{} worse", text(1 / times)), Tone::Worse};
}

// Over the jobs that both completed, where that is known; without it only runs that completed
// everything can be compared.
Cell fair_ratio_cell(const RunSummary& first, const RunSummary& run,
                     std::optional<double> RunSummary::*field,
                     std::optional<double> CommonFigures::*common) {
  if (!(first.*field) || !(run.*field)) return {"-", {}};
  if (completed_the_same(first, run)) return ratio_cell(first.*field, run.*field);
  return ratio_cell(run.first_common.*common, run.common.*common);
}

// The words on lines of at most this width; later lines are indented.
void append_wrapped(std::string& out, std::string_view text, std::size_t width) {
  std::string line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > width) {
      out += line + '\n';
      line = " ";
    }
    if (!line.empty()) line += ' ';
    line += cut(word, width - std::min<std::size_t>(width - 1, 2));
  }
  out += line + '\n';
}

class BlockTable {
 public:
  BlockTable(const Block& block, const TableOptions& options) : block_(block), options_(options) {
    add("policy", 0, [](const RunSummary& run) { return Cell{printable(run.policy), {}}; });
    add_state();
    const bool all_done =
        std::ranges::all_of(block, [](auto* run) { return run->completed == run->jobs; });
    add("done", 14, [=](const RunSummary& run) {
      return Cell{
          all_done ? fmt::to_string(run.completed) : fmt::format("{}/{}", run.completed, run.jobs),
          {}};
    });
    add_deadlines();
    add_duration("avg JCT", 0, &RunSummary::avg_jct_s, 17, &CommonFigures::avg_jct_s);
    add_duration("p50 JCT", 3, &RunSummary::p50_jct_s);
    add_duration("p99 JCT", 15, &RunSummary::p99_jct_s, 8, &CommonFigures::p99_jct_s);
    if (some(&RunSummary::best_effort_avg_jct_s)) {
      add_duration("best effort", 10, &RunSummary::best_effort_avg_jct_s);
    }
    add_duration("makespan", 12, &RunSummary::makespan_s, 7, &CommonFigures::makespan_s);
    add_duration("avg wait", 6, &RunSummary::avg_wait_s);
    add("queue", 4, [](const RunSummary& run) {
      return Cell{run.avg_queue ? three_digits(*run.avg_queue) : "-", {}};
    });
    add("GPU use", 9, [](const RunSummary& run) { return percent_cell(run.gpu_utilisation); });
    if (some(&RunSummary::arrivals_gpu_utilisation)) {
      add("while arriving", 2,
          [](const RunSummary& run) { return percent_cell(run.arrivals_gpu_utilisation); });
    }
    const bool resized = std::ranges::any_of(block, [](auto* run) { return run->resizes > 0; });
    if (resized || some(&RunSummary::deadline_ratio)) {
      add("efficiency", 11,
          [](const RunSummary& run) { return percent_cell(run.cluster_efficiency); });
    }
    add_faults();
    add("starts", 1, [](const RunSummary& run) { return Cell{fmt::to_string(run.starts), {}}; });
    if (resized) {
      add("resizes", 2, [](const RunSummary& run) {
        return Cell{fmt::to_string(run.resizes), {}};
      });
    }
    add("pauses", 5, [](const RunSummary& run) {
      return Cell{fmt::to_string(run.preemptions), {}};
    });
    fit();
  }

  std::string text() const {
    std::string out = styled(cut(heading(), limit()), kBold) + '\n';
    append_line(out, [](const Column& column) { return Cell{column.title, {}}; });
    for (std::size_t row = 0; row < block_.size(); ++row) {
      append_line(out, [row](const Column& column) { return column.cells[row]; });
    }
    if (!dropped_.empty()) {
      out += cut(fmt::format("(left out, too narrow: {})", fmt::join(dropped_, ", ")), limit());
      out += '\n';
    }
    if (options_.ratios) append_notes(out);
    return out;
  }

 private:
  std::size_t limit() const { return static_cast<std::size_t>(std::max(options_.width, 20)); }

  std::string heading() const {
    const RunSummary& run = *block_.front();
    std::string out = printable(run.trace);
    std::int64_t jobs = 0;
    for (const RunSummary* one : block_) jobs = std::max(jobs, one->jobs);
    out += fmt::format("   {} jobs, {} GPUs", jobs, run.gpus);
    if (!run.cluster.empty()) out += fmt::format(" ({})", printable(run.cluster));
    if (!run.semantics.empty()) out += fmt::format(", {} semantics", printable(run.semantics));
    return out;
  }

  void add(std::string title, int drop_rank, const std::function<Cell(const RunSummary&)>& cell) {
    Column column{std::move(title), drop_rank, false, {}, 0};
    column.width = columns_of(column.title);
    for (const RunSummary* run : block_) {
      const bool known = columns_.empty() || run->status != RunStatus::NotRun;
      column.cells.push_back(known ? cell(*run) : Cell{"-", {}});
      column.width = std::max(column.width, columns_of(column.cells.back().text));
    }
    columns_.push_back(std::move(column));
  }

  template <class Figure>
  bool some(std::optional<Figure> RunSummary::*field) const {
    return std::ranges::any_of(block_, [=](auto* run) { return (run->*field).has_value(); });
  }

  // Only where some run did not come to its end.
  void add_state() {
    const auto is_complete = [](auto* run) { return run->status == RunStatus::Complete; };
    if (std::ranges::all_of(block_, is_complete)) return;
    Column column{"state", 0, false, {}, columns_of("state")};
    for (const RunSummary* run : block_) {
      const std::string text(is_complete(run) ? "" : to_string(run->status));
      column.width = std::max(column.width, columns_of(text));
      column.cells.push_back({text, {}});
    }
    columns_.push_back(std::move(column));
  }

  // Over which jobs the ratios are, where the runs did not complete the same ones.
  void append_notes(std::string& out) const {
    for (const RunSummary* run : block_) {
      const std::string note = comparison_note(*block_.front(), *run);
      if (!note.empty()) append_wrapped(out, printable(note), limit());
    }
  }

  void add_deadlines() {
    if (!some(&RunSummary::deadline_ratio)) return;
    add("deadlines", 19, [](const RunSummary& run) { return percent_cell(run.deadline_ratio); });
    add_ratio(18, [](const RunSummary& first, const RunSummary& run) {
      return ratio_cell(run.deadline_ratio, first.deadline_ratio);
    });
    if (some(&RunSummary::promises_broken)) {
      add("promises", 13, [](const RunSummary& run) {
        if (!run.promises_broken) return Cell{"-", {}};
        return Cell{fmt::format("{}/{}", *run.promises - *run.promises_broken, *run.promises), {}};
      });
    }
    if (some(&RunSummary::soft_value_won)) {
      add("value won", 16, [](const RunSummary& run) {
        return Cell{run.soft_value_won ? fmt::format("{:.6g}", *run.soft_value_won) : "-", {}};
      });
    }
  }

  // Only where nodes come and go.
  void add_faults() {
    if (!some(&RunSummary::lost_gpu_h)) return;
    const auto count = [](const auto& value, std::string_view unit) {
      return Cell{value ? fmt::format("{:.0f}{}", static_cast<double>(*value), unit) : "-", {}};
    };
    add("goodput", 20, [](const RunSummary& run) { return percent_cell(run.goodput); });
    add("lost", 20, [=](const RunSummary& run) { return count(run.lost_gpu_h, " GPU h"); });
    add("restarts", 13, [=](const RunSummary& run) { return count(run.fault_restarts, ""); });
    add("down", 5, [=](const RunSummary& run) { return count(run.node_downtime_h, " node h"); });
    add("cost", 16, [=](const RunSummary& run) { return count(run.cost, ""); });
    const auto spares = [](auto* run) { return run->cost != run->cost_on_demand; };
    if (!std::ranges::any_of(block_, spares)) return;
    add("on-demand", 10, [=](const RunSummary& run) { return count(run.cost_on_demand, ""); });
  }

  void add_ratio(int drop_rank,
                 const std::function<Cell(const RunSummary&, const RunSummary&)>& ratio) {
    if (!options_.ratios || block_.size() < 2) return;
    const RunSummary& first = *block_.front();
    add("vs " + cut(printable(first.policy), 9), drop_rank, [&](const RunSummary& run) {
      return &run == &first ? Cell{"", {}} : ratio(first, run);
    });
    columns_.back().ratio = true;
  }

  void add_duration(std::string title, int drop_rank, std::optional<double> RunSummary::*field,
                    int ratio_drop_rank = 0,
                    std::optional<double> CommonFigures::*common = nullptr) {
    std::vector<std::optional<double>> values_s;
    for (const RunSummary* run : block_) values_s.push_back(run->*field);
    const std::vector<std::string> cells = duration_column(values_s);
    add(std::move(title), drop_rank, [&](const RunSummary& run) {
      const auto row = std::ranges::find(block_, &run) - block_.begin();
      return Cell{cells[static_cast<std::size_t>(row)], {}};
    });
    if (common == nullptr) return;
    add_ratio(ratio_drop_rank, [=](const RunSummary& first, const RunSummary& run) {
      return fair_ratio_cell(first, run, field, common);
    });
  }

  std::size_t total_width() const {
    std::size_t total = 0;
    for (const Column& column : columns_) total += column.width + kGap.size();
    return total - kGap.size();
  }

  void fit() {
    while (total_width() > limit()) {
      auto victim = columns_.end();
      for (auto column = columns_.begin(); column != columns_.end(); ++column) {
        if (column->drop_rank == 0) continue;
        if (victim == columns_.end() || column->drop_rank < victim->drop_rank) victim = column;
      }
      if (victim == columns_.end()) break;
      if (!victim->ratio) dropped_.push_back(victim->title);
      columns_.erase(victim);
    }
    Column& policy = columns_.front();
    const std::size_t rest = total_width() - policy.width;
    policy.width = std::min(policy.width, limit() > rest ? limit() - rest : 1);
  }

  template <class CellOf>
  void append_line(std::string& out, CellOf cell_of) const {
    std::string line;
    for (const Column& column : columns_) {
      if (!line.empty()) line += kGap;
      const Cell cell = cell_of(column);
      const std::string text = cut(cell.text, column.width);
      const std::string space(column.width - columns_of(text), ' ');
      const bool left = &column == &columns_.front() || column.ratio;
      const std::string shown = styled(text, cell.tone == Tone::Better  ? kGreen
                                             : cell.tone == Tone::Worse ? kRed
                                                                        : "");
      line += left ? shown + space : space + shown;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + '\n';
  }

  std::string styled(const std::string& text, std::string_view style) const {
    if (!options_.colour || style.empty() || text.empty()) return text;
    return fmt::format("{}{}{}", style, text, kPlain);
  }

  const Block& block_;
  const TableOptions& options_;
  std::vector<Column> columns_;
  std::vector<std::string> dropped_;
};

std::vector<Block> blocks_of(std::span<const RunSummary> runs) {
  std::vector<Block> blocks;
  for (const RunSummary& run : runs) {
    const auto same = std::ranges::find_if(
        blocks, [&](const Block& block) { return block.front()->trace == run.trace; });
    if (same == blocks.end()) {
      blocks.push_back({&run});
    } else {
      same->push_back(&run);
    }
  }
  return blocks;
}

}  // namespace

std::string human_duration(double value_s) {
  const Unit& unit = unit_of(value_s);
  return fmt::format("{} {}", three_digits(value_s / unit.length_s), unit.name);
}

std::vector<std::string> duration_column(std::span<const std::optional<double>> values_s) {
  double shortest_s = HUGE_VAL;
  double longest_s = 0;
  for (const auto& value_s : values_s) {
    longest_s = std::max(longest_s, value_s.value_or(0));
    if (value_s && *value_s > 0) shortest_s = std::min(shortest_s, *value_s);
  }
  const Unit& unit = unit_of(shortest_s, longest_s);
  std::vector<std::string> cells;
  for (const auto& value_s : values_s) {
    cells.push_back(
        value_s ? fmt::format("{} {}", three_digits(*value_s / unit.length_s), unit.name) : "-");
  }
  return cells;
}

std::string table(std::span<const RunSummary> runs, const TableOptions& options) {
  std::string out;
  for (const Block& block : blocks_of(runs)) {
    if (!out.empty()) out += '\n';
    out += BlockTable(block, options).text();
  }
  return out;
}

}  // namespace orrery
