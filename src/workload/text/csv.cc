#include "workload/text/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace orrery {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the quoted field at the front of `rest`, the opening quote already gone, and appends its
// text. False when the line ends inside it or something other than a comma follows it.
bool take_quoted(std::string_view& rest, std::string& text) {
  while (true) {
    const std::size_t quote = rest.find('"');
    if (quote == std::string_view::npos) return false;
    text.append(rest.substr(0, quote));
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('"')) break;
    text += '"';
    rest.remove_prefix(1);
  }
  rest = trimmed(rest);
  return rest.empty() || rest.front() == ',';
}

}  // namespace

Result<std::span<const std::string_view>> CsvLine::split(std::string_view line) {
  fields_.clear();
  if (separator_ == ',' && std::memchr(line.data(), '"', line.size()) != nullptr) {
    return split_quoted(line);
  }
  const char* begin = line.data();
  const char* const end = begin + line.size();
  while (true) {
    // Fields are short: a plain loop is faster than a search that sets itself up.
    const char* stop = begin;
    while (stop != end && *stop != separator_) ++stop;
    fields_.push_back(trimmed({begin, static_cast<std::size_t>(stop - begin)}));
    if (stop == end) return std::span<const std::string_view>(fields_);
    begin = stop + 1;
  }
}

Result<std::span<const std::string_view>> CsvLine::split_quoted(std::string_view rest) {
  unquoted_.clear();
  unquoted_.reserve(rest.size());  // never grows below, so that views into it hold
  while (true) {
    const std::size_t start = rest.find_first_not_of(" \t");
    if (start != std::string_view::npos && rest[start] == '"') {
      rest.remove_prefix(start + 1);
      const std::size_t begin = unquoted_.size();
      if (!take_quoted(rest, unquoted_)) {
        return invalid(fmt::format(
            "field {}: a quoted field must end with a double quote before the next comma or the "
            "end of the line",
            fields_.size() + 1));
      }
      fields_.push_back(std::string_view(unquoted_).substr(begin));
      if (rest.empty()) return std::span<const std::string_view>(fields_);
      rest.remove_prefix(1);
      continue;
    }
    const std::size_t comma = rest.find(',');
    fields_.push_back(trimmed(rest.substr(0, comma)));
    if (comma == std::string_view::npos) return std::span<const std::string_view>(fields_);
    rest.remove_prefix(comma + 1);
  }
}

std::vector<std::string> csv_names(std::string_view line) {
  CsvLine cut;
  const auto fields = cut.split(line);
  if (!fields.ok()) return {};
  return {fields.value().begin(), fields.value().end()};
}

std::string csv_field(std::string_view text) {
  if (trimmed(text).size() == text.size() && text.find_first_of(",\"") == std::string_view::npos) {
    return std::string(text);
  }
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

Result<CsvTable> CsvTable::open(LineReader& lines, std::span<const std::string_view> known,
                                std::span<const std::size_t> required, const CsvStyle& style) {
  CsvTable table(lines, known, style.separator);
  TRY_ASSIGN(const bool any, lines.next());
  if (!any) return lines.wrong_file("is empty; the first line must name the columns");
  const auto fields = table.line_.split(lines.line());
  if (!fields.ok()) return lines.wrong(fields.error().message);
  for (const std::string_view name : fields.value()) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end() && style.other_columns) {
      table.column_of_.push_back(known.size());
      continue;
    }
    if (found == known.end()) {
      return lines.wrong(fmt::format("unknown column '{}'; the known ones are {}",
                                     name.substr(0, 40), fmt::join(known, ", ")));
    }
    const auto column = static_cast<std::size_t>(found - known.begin());
    if (table.has(column)) return lines.wrong(fmt::format("column '{}' comes twice", name));
    table.field_of_[column] = static_cast<int>(table.column_of_.size());
    table.column_of_.push_back(column);
  }
  for (const std::size_t column : required) {
    if (!table.has(column)) {
      return lines.wrong(fmt::format("the header has no column '{}'", known[column]));
    }
  }
  return table;
}

CsvTable CsvTable::without_header(LineReader& lines, std::span<const std::string_view> columns,
                                  char separator) {
  CsvTable table(lines, columns, separator);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    table.field_of_[i] = static_cast<int>(i);
    table.column_of_.push_back(i);
  }
  table.headed_ = false;
  return table;
}

Result<bool> CsvTable::next() {
  TRY_ASSIGN(const bool more, lines_->next());
  if (!more) return false;
  const auto fields = line_.split(lines_->line());
  if (!fields.ok()) return lines_->wrong(fields.error().message);
  if (fields.value().size() != column_of_.size()) {
    return lines_->wrong(fmt::format("has {} fields, but {}{} columns", fields.value().size(),
                                     headed_ ? "the header names " : "the format has ",
                                     column_of_.size()));
  }
  for (std::size_t i = 0; i < column_of_.size(); ++i) {
    if (column_of_[i] < field_of_.size()) row_.set(column_of_[i], fields.value()[i]);
  }
  return true;
}

}  // namespace orrery
