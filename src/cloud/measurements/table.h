#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/text/csv.h"

namespace orrery {

// Calls `take` for each row of a CSV file with a header. Columns that are not in `known` are passed
// over; the `required` ones must be there. A row's cell is empty where its column is missing.
Status for_each_row(const std::string& path, std::span<const std::string_view> known,
                    std::span<const std::size_t> required,
                    const std::function<Status(const Row&)>& take);

// One value of a series that TensorBoard has written: "Wall time,Step,Value".
struct SeriesPoint {
  double at_s = 0;  // since 1970
  std::int64_t step = 0;
  double value = 0;
};
Result<std::vector<SeriesPoint>> read_series(const std::string& path);

// The bounds of such cells.
inline constexpr double kStamp_s_max = 1e11;
inline constexpr std::int64_t kStepMax = 1'000'000'000'000;

}  // namespace orrery
