#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// One line of the result. The value is a number with ten digits, or a list as text.
struct AnalysisRow {
  std::string table;
  std::string config;
  std::string metric;
  std::string value;
  std::optional<std::size_t> samples{};
  std::string note{};
};

// Collects rows, those of one table and configuration after another.
class RowWriter {
 public:
  explicit RowWriter(std::vector<AnalysisRow>& rows) : rows_(rows) {}

  // The rows that follow belong to it.
  RowWriter& of(std::string_view table, std::string_view config);

  void add(std::string_view metric, double value, std::optional<std::size_t> samples = {},
           std::string note = {});
  void add_count(std::string_view metric, std::size_t value,
                 std::optional<std::size_t> samples = {}, std::string note = {});
  void add_text(std::string_view metric, std::string value, std::optional<std::size_t> samples = {},
                std::string note = {});

 private:
  std::vector<AnalysisRow>& rows_;
  std::string table_{};
  std::string config_{};
};

// With ten digits, as all values of the table.
std::string number_text(double value);
// To `digits` behind the point. Figures of the published table that were rounded are rounded here.
double rounded(double value, int digits);

// "table,config,metric,value,n,note" and a line for each row.
std::string csv_of(const std::vector<AnalysisRow>& rows);

// The row's value; nothing if there is no such row.
std::optional<std::string> value_of(const std::vector<AnalysisRow>& rows, std::string_view table,
                                    std::string_view config, std::string_view metric);

}  // namespace orrery
