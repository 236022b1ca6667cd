#include "report/listing/listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/grid.h"
#include "base/nearest_word.h"
#include "base/plain_text.h"
#include "report/listing/cells.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTemplate = "template=";
constexpr std::size_t kGap = 2;  // of a grid

Error no_field(std::string_view place, std::string_view word, const Listing& listing) {
  std::vector<std::string_view> known(listing.fields.begin(), listing.fields.end());
  if (known.empty()) return invalid(fmt::format("{}: there are no fields", place));
  return invalid(fmt::format("{}: there is no '{}'; did you mean {}? There are {}", place,
                             plain_text(word), nearest_word(word, known), fmt::join(known, ", ")));
}

// A field by its name, its name without the unit, or the title of its column.
std::optional<std::string> field_named(std::string_view word, const Listing& listing) {
  for (const ListColumn& column : listing.columns) {
    if (column.title == word) return column.field;
  }
  for (const std::string& field : listing.fields) {
    if (field == word || (field.ends_with("_s") && field.substr(0, field.size() - 2) == word)) {
      return field;
    }
  }
  return std::nullopt;
}

struct SortKey {
  std::string field;
  bool falling = false;
};

Result<std::vector<SortKey>> sort_keys(std::string_view text, const Listing& listing) {
  std::vector<SortKey> keys;
  while (true) {
    std::string_view word = text.substr(0, text.find(','));
    const bool falling = word.starts_with('-');
    if (falling) word.remove_prefix(1);
    const auto field = field_named(word, listing);
    if (!field) return no_field("--sort", word, listing);
    keys.push_back({.field = *field, .falling = falling});
    if (text.find(',') == std::string_view::npos) return keys;
    text.remove_prefix(text.find(',') + 1);
  }
}

// Below 0: a stands before b.
int compare(const Json& a, const Json& b, const SortKey& key) {
  const auto in = [&](const Json& row) {
    const auto found = row.find(key.field);
    return found == row.end() || found->is_null() ? nullptr : &*found;
  };
  const Json* left = in(a);
  const Json* right = in(b);
  if (left == nullptr || right == nullptr) {
    return static_cast<int>(left == nullptr) - static_cast<int>(right == nullptr);
  }
  if (*left == *right) return 0;
  return (*left < *right) != key.falling ? -1 : 1;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv(const Listing& listing) {
  std::string out = fmt::format("{}\n", fmt::join(listing.fields, ","));
  for (const Json& row : listing.rows) {
    std::string line;
    for (const std::string& field : listing.fields) {
      if (&field != &listing.fields.front()) line += ',';
      const auto found = row.find(field);
      if (found != row.end()) line += csv_cell(plain_value(*found, "; "));
    }
    out += line + '\n';
  }
  return out;
}

std::string json(Listing& listing) {
  Json all = Json::object();
  all[listing.name] = Json::array();
  for (Json& row : listing.rows) all[listing.name].push_back(std::move(row));
  return json_line(all);
}

// \n and \t are what they are in C.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : ' ';
    if (next != 'n' && next != 't' && next != '\\') {
      out += text[i];
      continue;
    }
    out += next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
    ++i;
  }
  return out;
}

// {{FIELD}} stands for the value of each row.
Result<std::string> by_template(std::string_view pattern, const Listing& listing) {
  struct Part {
    std::string before;
    std::string field;  // empty: the end
  };
  std::vector<Part> parts;
  while (true) {
    const std::size_t open = pattern.find("{{");
    parts.push_back({.before = unescaped(pattern.substr(0, open)), .field = {}});
    if (open == std::string_view::npos) break;
    const std::size_t close = pattern.find("}}", open);
    if (close == std::string_view::npos) {
      return invalid("--output template: '{{' without '}}'; write {{FIELD}}");
    }
    const std::string_view field = pattern.substr(open + 2, close - open - 2);
    if (std::ranges::find(listing.fields, field) == listing.fields.end()) {
      return no_field("--output template", field, listing);
    }
    parts.back().field = field;
    pattern.remove_prefix(close + 2);
  }
  std::string out;
  for (const Json& row : listing.rows) {
    for (const Part& part : parts) {
      out += part.before;
      const auto found = row.find(part.field);
      if (found != row.end()) out += plain_value(*found, ",");
    }
    out += '\n';
  }
  return out;
}

// A column with its cells, and the width that it gets.
struct ShownColumn {
  const ListColumn* column;
  std::vector<std::string> cells;
  std::size_t natural = 0;
  std::size_t width = 0;
};

std::size_t total_width(const std::vector<ShownColumn>& columns) {
  std::size_t total = 0;
  for (const ShownColumn& each : columns) total += each.width + kGap;
  return total - std::min(total, kGap);
}

// Makes the text narrower that is the widest for its least width, again and again. False: all have
// their least width and are still too wide.
bool cut_to(std::vector<ShownColumn>& columns, std::size_t limit) {
  for (ShownColumn& each : columns) each.width = each.natural;
  for (std::size_t total = total_width(columns); total > limit; --total) {
    ShownColumn* widest = nullptr;
    for (ShownColumn& each : columns) {
      const std::size_t least = each.column->least;
      const bool may_be_cut =
          least > 0 && each.width > std::max(least, columns_of(each.column->title));
      if (!may_be_cut) continue;
      if (widest == nullptr || each.width * widest->column->least > widest->width * least) {
        widest = &each;
      }
    }
    if (widest == nullptr) return false;
    --widest->width;
  }
  return true;
}

void fit(std::vector<ShownColumn>& columns, std::size_t limit) {
  while (!cut_to(columns, limit)) {
    auto victim = columns.end();
    for (auto each = columns.begin(); each != columns.end(); ++each) {
      const int rank = each->column->drop_rank;
      if (rank != 0 && (victim == columns.end() || rank < victim->column->drop_rank)) victim = each;
    }
    if (victim == columns.end()) return;
    columns.erase(victim);
  }
}

bool stands_left(const ListColumn& column) {
  return column.kind == ColumnKind::Text || column.kind == ColumnKind::Instant;
}

std::string table(const Listing& listing, bool wide, int width) {
  if (listing.rows.empty()) return listing.none + listing.summary;
  std::vector<ShownColumn> columns;
  for (const ListColumn& column : listing.columns) {
    if (column.wide && !wide) continue;
    ShownColumn& each = columns.emplace_back(&column, cells_of(column, listing));
    each.natural = columns_of(column.title);
    for (const auto& cell : each.cells) each.natural = std::max(each.natural, columns_of(cell));
    each.width = each.natural;
  }
  constexpr int kNarrowest = 40;
  if (!wide && width > 0) fit(columns, static_cast<std::size_t>(std::max(width, kNarrowest)));
  std::vector<GridColumn> titles;
  std::vector<std::vector<std::string>> rows(listing.rows.size());
  for (ShownColumn& each : columns) {
    titles.push_back({each.column->title, stands_left(*each.column)});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].push_back(fitted(each.cells[i], each.width));
    }
  }
  return grid(titles, rows) + listing.summary;
}

}  // namespace

std::string json_line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Status check_output(const ListArguments& arguments) {
  constexpr std::string_view kForms[] = {"", "table", "wide", "json", "csv"};
  const std::string& output = arguments.output;
  if (!output.starts_with(kTemplate) &&
      std::ranges::find(kForms, std::string_view(output)) == std::end(kForms)) {
    return invalid(
        fmt::format("--output: '{}': write table, wide, json, csv or template='{{{{FIELD}}}} ...'",
                    plain_text(output)));
  }
  if (arguments.json && !output.empty() && output != "json") {
    return invalid(fmt::format("--json and --output {}: leave out one", plain_text(output)));
  }
  return {};
}

std::vector<std::string> fields_of(const Json& row) {
  std::vector<std::string> names;
  for (const auto& [name, value] : row.items()) names.push_back(name);
  return names;
}

Status sort_rows(Listing& listing, const std::string& sort) {
  if (sort.empty()) return {};
  if (listing.fields.empty() && !listing.rows.empty()) {
    listing.fields = fields_of(listing.rows.front());
  }
  TRY_ASSIGN(const std::vector<SortKey> keys, sort_keys(sort, listing));
  std::ranges::stable_sort(listing.rows, [&](const Json& a, const Json& b) {
    for (const SortKey& key : keys) {
      if (const int order = compare(a, b, key); order != 0) return order < 0;
    }
    return false;
  });
  return {};
}

Result<std::string> to_text(Listing listing, const ListArguments& arguments, int width) {
  TRY(check_output(arguments));
  if (listing.fields.empty() && !listing.rows.empty()) {
    listing.fields = fields_of(listing.rows.front());
  }
  TRY(sort_rows(listing, arguments.sort));
  if (arguments.is_json()) return json(listing);
  if (arguments.output == "csv") return csv(listing);
  if (arguments.output.starts_with(kTemplate)) {
    return by_template(std::string_view(arguments.output).substr(kTemplate.size()), listing);
  }
  return table(listing, arguments.output == "wide", width);
}

}  // namespace orrery
