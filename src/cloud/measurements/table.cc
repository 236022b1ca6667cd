#include "cloud/measurements/table.h"

#include <sstream>

#include "base/files.h"
#include "workload/text/line_reader.h"

namespace orrery {

Status for_each_row(const std::string& path, std::span<const std::string_view> known,
                    std::span<const std::size_t> required,
                    const std::function<Status(const Row&)>& take) {
  TRY_ASSIGN(std::string text, read_file(path));
  std::istringstream in(std::move(text));
  LineReader lines(path, in);
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, known, required, {.other_columns = true}));
  while (true) {
    TRY_ASSIGN(const bool more, table.next());
    if (!more) return {};
    TRY(take(table.row()));
  }
}

Result<std::vector<SeriesPoint>> read_series(const std::string& path) {
  static constexpr std::string_view kColumns[] = {"Wall time", "Step", "Value"};
  static constexpr std::size_t kAll[] = {0, 1, 2};
  std::vector<SeriesPoint> points;
  TRY(for_each_row(path, kColumns, kAll, [&](const Row& row) -> Status {
    SeriesPoint point;
    TRY_ASSIGN(point.at_s, row.number(0, 0, kStamp_s_max));
    TRY_ASSIGN(point.step, row.integer(1, 0, kStepMax));
    TRY_ASSIGN(point.value, row.number(2, -1e12, 1e12));
    points.push_back(point);
    return {};
  }));
  if (points.empty()) return invalid(path + ": holds no row below its header");
  return points;
}

}  // namespace orrery
