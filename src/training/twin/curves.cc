#include "training/twin/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "base/files.h"
#include "base/statistics.h"

namespace orrery {
namespace {

// A small table of numbers under a header; a field that is empty is not there.
class Table {
 public:
  static Result<Table> parse(std::string_view text, const std::string& place) {
    Table table;
    int number = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (number == 1) {
        for (const std::string_view name : fields(line)) table.names_.emplace_back(name);
        continue;
      }
      Row row{.line = number};
      bool any = false;
      for (const std::string_view field : fields(line)) {
        double value = 0;
        const auto [rest, problem] =
            std::from_chars(field.data(), field.data() + field.size(), value);
        const bool whole = problem == std::errc() && rest == field.data() + field.size();
        row.values.push_back(whole ? std::optional(value) : std::nullopt);
        any |= whole;
      }
      if (any) table.rows_.push_back(std::move(row));
    }
    if (table.rows_.empty()) return invalid(place + ": no rows of numbers under a header");
    return table;
  }

  struct Row {
    int line = 0;
    std::vector<std::optional<double>> values{};
  };
  const std::vector<Row>& rows() const { return rows_; }

  int column(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    return found == names_.end() ? -1 : static_cast<int>(found - names_.begin());
  }
  static std::optional<double> value(const Row& row, int column) {
    if (column < 0 || static_cast<std::size_t>(column) >= row.values.size()) return std::nullopt;
    return row.values[static_cast<std::size_t>(column)];
  }

 private:
  // A field may stand in quotes, and hold commas then.
  static std::vector<std::string_view> fields(std::string_view line) {
    std::vector<std::string_view> found;
    bool quoted = false;
    std::size_t first = 0;
    for (std::size_t i = 0; i <= line.size(); ++i) {
      if (i < line.size() && line[i] == '"') quoted = !quoted;
      if (i < line.size() && (quoted || line[i] != ',')) continue;
      found.push_back(line.substr(first, i - first));
      first = i + 1;
    }
    return found;
  }

  std::vector<std::string> names_{};
  std::vector<Row> rows_{};
};

Error at_line(const std::string& place, int line, const std::string& what) {
  return invalid(fmt::format("{}:{}: {}", place, line, what));
}

double value_at(const std::vector<double>& sorted, double part) {
  return quantile(sorted, part, QuantileRule::Below);
}

void take_pace(std::map<double, std::vector<double>>& by_worker, TrainingRun& run) {
  std::vector<std::pair<double, double>> paces;  // median; what a normal one deviates
  for (auto& [worker, times] : by_worker) {
    std::ranges::sort(times);
    const double median = value_at(times, 0.5);
    // From the first to the ninth tenth a normal distribution is 2.56 deviations wide.
    paces.emplace_back(median, (value_at(times, 0.9) - value_at(times, 0.1)) / 2.56 / median);
  }
  std::ranges::sort(paces);
  const std::size_t faster = (paces.size() + 1) / 2;
  for (std::size_t i = 0; i < faster; ++i) {
    run.per_sample_s += paces[i].first / static_cast<double>(faster);
    run.jitter += paces[i].second / static_cast<double>(faster);
  }
}

}  // namespace

Result<TrainingCurve> parse_training_curve(const std::string& text, const std::string& place) {
  TRY_ASSIGN(const Table table, Table::parse(text, place));
  const int samples = table.column("samples"), accuracy = table.column("accuracy");
  if (samples < 0 || accuracy < 0) {
    return at_line(place, 1, "the header has to name 'samples' and 'accuracy'");
  }
  TrainingCurve curve;
  for (const Table::Row& row : table.rows()) {
    const auto at = Table::value(row, samples), is = Table::value(row, accuracy);
    if (!at || !is || !(*is >= 0 && *is <= 1) || !(*at >= 0)) {
      return at_line(place, row.line, "samples and an accuracy from 0 to 1 are needed in each row");
    }
    if (!curve.empty() && *at < curve.back().samples) {
      return at_line(place, row.line, "samples have to ascend");
    }
    const auto or_else = [&](std::string_view name, double value) {
      return Table::value(row, table.column(name)).value_or(value);
    };
    curve.push_back({.time_s = or_else("time_s", 0),
                     .samples = *at,
                     .staleness = std::max(0.0, or_else("staleness", 0)),
                     .rate = or_else("rate", 1),
                     .accuracy = *is,
                     .loss = or_else("loss", std::numeric_limits<double>::quiet_NaN())});
  }
  // Rates may be written as they are.
  const double first_rate = curve.front().rate;
  if (first_rate > 0) {
    for (CurvePoint& point : curve) point.rate /= first_rate;
  }
  return curve;
}

Result<TrainingCurve> read_training_curve(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_training_curve(text, path);
}

Result<TrainingRun> read_training_run(const std::string& folder) {
  TrainingRun run;
  TRY_ASSIGN(run.curve, read_training_curve(folder + "/curve.csv"));
  const std::string path = folder + "/iterations.csv";
  TRY_ASSIGN(const std::string text, read_file(path));
  TRY_ASSIGN(const Table table, Table::parse(text, path));
  const int time = table.column("time_s"), worker = table.column("worker");
  const int took = table.column("took_s"), samples = table.column("samples");
  const int staleness = table.column("staleness"), in_rate = table.column("in_bytes_per_s");
  const int cpu = table.column("cpu_share");
  if (std::min({time, worker, took, samples, staleness}) < 0) {
    return at_line(path, 1, "the header has to name time_s, worker, took_s, samples and staleness");
  }
  std::map<double, std::vector<double>> by_worker;  // seconds a sample
  std::vector<double> bytes;
  std::size_t point = 0;
  double stale = 0, used = 0;
  for (const Table::Row& row : table.rows()) {
    const auto at = Table::value(row, time), of = Table::value(row, worker);
    const auto length = Table::value(row, took), count = Table::value(row, samples);
    const auto late = Table::value(row, staleness);
    if (!at || !of || !length || !count || !late || !(*count > 0)) continue;
    by_worker[*of].push_back(*length / *count);
    run.tasks.push_back({static_cast<int>(*of), *at - *length, *at, static_cast<int>(*count),
                         Table::value(row, cpu).value_or(0) * *length});
    if (const auto in = Table::value(row, in_rate); in && *in > 0) bytes.push_back(*in * *length);
    while (point < run.curve.size() && *at > run.curve[point].time_s) {
      run.curve[point++].staleness = used > 0 ? stale / used : 0;
      stale = used = 0;
    }
    if (*late < 0) continue;
    stale += *late * *count;
    used += *count;
  }
  for (; point < run.curve.size(); ++point)
    run.curve[point].staleness = used > 0 ? stale / used : 0;
  if (by_worker.empty()) return invalid(path + ": no iterations to learn from");
  run.workers = static_cast<int>(by_worker.size());
  take_pace(by_worker, run);
  std::ranges::sort(bytes);
  if (!bytes.empty()) run.parameter_bytes = value_at(bytes, 0.5);
  return run;
}

Result<TrainingCurve> read_step_curve(const std::string& path, const StepCurve& meaning) {
  INVARIANT(!meaning.phases.empty(), "a step without a meaning");
  TRY_ASSIGN(const std::string text, read_file(path));
  TRY_ASSIGN(const Table table, Table::parse(text, path));
  const int step_column = table.column("Step"), value_column = table.column("Value");
  const int relative = table.column("Relative time (s)"), wall = table.column("Wall time");
  if (step_column < 0 || value_column < 0 || (relative < 0 && wall < 0)) {
    return at_line(path, 1, "the header has to name 'Wall time', 'Step' and 'Value'");
  }
  TrainingCurve curve;
  std::size_t phase = 0;
  double last_step = 0, samples = 0;
  std::optional<double> begin_s;
  for (const Table::Row& row : table.rows()) {
    const auto step = Table::value(row, step_column), value = Table::value(row, value_column);
    const auto time = Table::value(row, relative < 0 ? wall : relative);
    if (!step || !value || !time) continue;
    if (!begin_s) begin_s = *time;
    double stale = 0;
    const double samples_before = samples;
    while (last_step < *step) {
      const CurvePhase& now = meaning.phases[phase];
      const bool last = phase + 1 == meaning.phases.size();
      const double end = last ? *step : std::clamp(now.until_step, last_step, *step);
      samples += (end - last_step) * now.samples_per_step;
      stale += (end - last_step) * now.samples_per_step * now.staleness;
      last_step = end;
      if (!last && end >= now.until_step) ++phase;
    }
    const double passed = samples - samples_before;
    double rate = 1;
    if (meaning.rate_falls_at > 0 && samples > meaning.rate_falls_at) rate = 0.1;
    if (meaning.rate_falls_at > 0 && samples > 1.5 * meaning.rate_falls_at) rate = 0.01;
    curve.push_back({.time_s = *time - *begin_s,
                     .samples = samples,
                     .staleness = passed > 0 ? stale / passed : meaning.phases[phase].staleness,
                     .rate = rate,
                     .accuracy = *value});
  }
  if (curve.empty()) return invalid(path + ": no row with a time, a step and a value");
  return curve;
}

}  // namespace orrery
