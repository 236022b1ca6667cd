#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/formats/row.h"
#include "workload/text/line_reader.h"

namespace orrery {

// Cuts one line at its commas. A field may stand in double quotes and then hold commas, and double
// quotes written twice; other fields lose the blanks around them. With another separator quotes
// mean nothing.
class CsvLine {
 public:
  explicit CsvLine(char separator = ',') : separator_(separator) {}

  // The fields are valid until the next call, and as long as `line` is.
  Result<std::span<const std::string_view>> split(std::string_view line);

 private:
  Result<std::span<const std::string_view>> split_quoted(std::string_view rest);

  char separator_;
  std::vector<std::string_view> fields_;
  std::string unquoted_;
};

// The names in a header row; none when the line is no CSV.
std::vector<std::string> csv_names(std::string_view line);

// Puts the field between double quotes when the plain text would not read back as it is.
std::string csv_field(std::string_view text);

// How a table is written, and what is made of unknown columns.
struct CsvStyle {
  char separator = ',';
  bool other_columns = false;  // are passed over; otherwise they are an error
};

// A table whose first line names the columns, in any order. Each row has a field for every column
// of the header.
class CsvTable {
 public:
  // Reads the header. Every column in it must be in `known`, unless the style says otherwise, and
  // come once; the required ones must be there. `known` must outlive the table.
  static Result<CsvTable> open(LineReader& lines, std::span<const std::string_view> known,
                               std::span<const std::size_t> required, const CsvStyle& style = {});

  // The same for a file without a header: its fields are `columns`, in that order.
  static CsvTable without_header(LineReader& lines, std::span<const std::string_view> columns,
                                 char separator);

  bool has(std::size_t column) const { return field_of_[column] >= 0; }

  Result<bool> next();  // false after the last row
  const Row& row() const { return row_; }

 private:
  CsvTable(LineReader& lines, std::span<const std::string_view> known, char separator)
      : lines_(&lines), row_(lines, known), line_(separator), field_of_(known.size(), -1) {}

  LineReader* lines_;
  Row row_;
  CsvLine line_;
  bool headed_ = true;
  std::vector<int> field_of_;           // by column; -1: not in the header
  std::vector<std::size_t> column_of_;  // by field; past the known ones: unknown
};

}  // namespace orrery
