#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/listing/list_arguments.h"

namespace orrery {

// What the values of a column are. A column of a table has one unit, so that rows compare at a
// glance; JSON, CSV and templates have the numbers as they are.
enum class ColumnKind : std::uint8_t {
  Text,     // and lists, with commas
  Count,    // as many decimals in each row
  Seconds,  // 0:03, 12:05, 3:07:00, 2-04:00:00
  Age,      // the same, of the time since then
  Instant,  // seconds since 1970, in the local time of this machine
  Bytes,    // in one unit of 1024
  Share,    // of 0 to 1, in per cent
};

// A column of the table, which shows one field of the rows.
struct ListColumn {
  std::string title;
  std::string field;
  ColumnKind kind = ColumnKind::Text;
  std::string_view none = "-";  // where there is no value
  std::size_t least = 0;        // a narrow terminal may cut texts to this width; 0: it may not
  int drop_rank = 0;            // then columns are left out, the smallest first; 0: stays
  bool wide = false;            // with --output wide only
};

struct Listing {
  std::string name;  // "jobs": {"jobs":[...]}
  std::vector<ListColumn> columns;
  // Objects with all fields, as JSON has them; `fields` names them where there are no rows.
  std::vector<nlohmann::ordered_json> rows{};
  std::vector<std::string> fields{};
  std::string none{};     // in place of a table without rows
  std::string summary{};  // below the table
  double now_s = 0;       // since 1970
};

// The names of an object's fields.
std::vector<std::string> fields_of(const nlohmann::ordered_json& row);

// Puts the rows in the order of `sort`, which may be empty. Rows without the value come last; rows
// of the same value stay in their order.
Status sort_rows(Listing& listing, const std::string& sort);

// The sorted rows in the form asked for, with a line end. No line of a table is wider than `width`,
// if that is above 0; the forms for scripts are never cut.
Result<std::string> to_text(Listing listing, const ListArguments& arguments, int width);

// An object in one line, with its end. Bytes that are not UTF-8 are replaced.
std::string json_line(const nlohmann::ordered_json& object);

// "0:03", "12:05", "3:07:00", "2-04:00:00": to the right of a column, units stand below each other.
std::string clock_text(double value_s);

// "2026-11-15 19:44:46", in the local time of this machine.
std::string local_time(double since_1970_s);

// At most `width` columns, the last of them an ellipsis if something was cut off; as
// plain_text() has it.
std::string fitted(std::string_view text, std::size_t width);

}  // namespace orrery
