#include "cloud/analysis/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "workload/text/csv.h"

namespace orrery {

std::string number_text(double value) { return fmt::format("{:.10g}", value); }

double rounded(double value, int digits) {
  const double unit = std::pow(10, digits);
  return std::round(value * unit) / unit;
}

RowWriter& RowWriter::of(std::string_view table, std::string_view config) {
  table_ = table, config_ = config;
  return *this;
}

void RowWriter::add(std::string_view metric, double value, std::optional<std::size_t> samples,
                    std::string note) {
  add_text(metric, number_text(value), samples, std::move(note));
}

void RowWriter::add_count(std::string_view metric, std::size_t value,
                          std::optional<std::size_t> samples, std::string note) {
  add_text(metric, fmt::format("{}", value), samples, std::move(note));
}

void RowWriter::add_text(std::string_view metric, std::string value,
                         std::optional<std::size_t> samples, std::string note) {
  rows_.push_back(
      {table_, config_, std::string(metric), std::move(value), samples, std::move(note)});
}

std::string csv_of(const std::vector<AnalysisRow>& rows) {
  std::string text = "table,config,metric,value,n,note\n";
  for (const AnalysisRow& row : rows) {
    text += fmt::format("{},{},{},{},{},{}\n", csv_field(row.table), csv_field(row.config),
                        csv_field(row.metric), csv_field(row.value),
                        row.samples ? fmt::format("{}", *row.samples) : "", csv_field(row.note));
  }
  return text;
}

std::optional<std::string> value_of(const std::vector<AnalysisRow>& rows, std::string_view table,
                                    std::string_view config, std::string_view metric) {
  const auto found = std::ranges::find_if(rows, [&](const AnalysisRow& row) {
    return row.table == table && row.config == config && row.metric == metric;
  });
  return found == rows.end() ? std::nullopt : std::optional(found->value);
}

}  // namespace orrery
