#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/text/line_reader.h"

namespace orrery {

// The bounds of what a job may ask for. They are far beyond any cluster, and keep sums and
// nanoseconds inside their integers.
inline constexpr std::int64_t kGpusMax = 1'000'000;
inline constexpr double kYear_s = 31'557'600;
inline constexpr double kTimeMax_s = 100 * kYear_s;
inline constexpr double kTimeMin_s = 1e-9;
inline constexpr double kIterationsMax = 1e15;
inline constexpr double kIterationsMin = 1e-9;
inline constexpr std::int64_t kBatchMax = 1'000'000'000;
inline constexpr double kCpusMax = 1e6;
inline constexpr double kMemoryMax_gb = 1e6;
inline constexpr std::size_t kStagesMax = 16;
inline constexpr double kSpeedMax = 1 / kTimeMin_s;  // iterations a second
inline constexpr double kSpeedMin = 1 / kTimeMax_s;
inline constexpr double kHostSpeedMax = 1e9;  // over that with another share of CPUs and memory
inline constexpr double kHostSpeedMin = 1e-9;
inline constexpr double kDeadlineValueMax = 1e15;
inline constexpr std::size_t kNameBytesMax = 1024;

// A decimal number times 10^digits, to the nearest whole, without going through binary fractions
// where the text is plain digits: "0.3" with 9 digits is exactly 300000000. Refuses what is
// no number from 0 to max.
Result<std::int64_t> parse_fixed(std::string_view text, int digits, double max);
Result<double> parse_number(std::string_view text, double low, double high);
Result<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high);

// Iterations a second on some GPUs; 0 where a job cannot run.
Result<double> parse_speed(std::string_view text);

// Fails if a job of these iterations, each this long, is beyond the bounds; the error says which
// one it breaks.
Status check_work(double iterations, double iteration_s);

// A name that every output can show: UTF-8 without control characters, of a sane length.
Status check_name(std::string_view name);

// One record of a trace: the text of each known column, empty where it is not given. The typed
// readers refuse an empty cell; their errors name file, line and column.
class Row {
 public:
  // The columns' names must outlive the row.
  Row(const LineReader& lines, std::span<const std::string_view> columns)
      : lines_(lines), columns_(columns), cells_(columns.size()) {}

  std::string_view operator[](std::size_t column) const { return cells_[column]; }
  bool given(std::size_t column) const { return !cells_[column].empty(); }
  void set(std::size_t column, std::string_view text) { cells_[column] = text; }

  Result<std::string_view> name(std::size_t column) const;
  Result<double> number(std::size_t column, double low, double high) const;
  Result<std::int64_t> integer(std::size_t column, std::int64_t low, std::int64_t high) const;
  Result<std::int64_t> fixed(std::size_t column, int digits, double max) const;

  std::int64_t line() const { return lines_.number(); }
  Error wrong(std::size_t column, std::string_view what) const;
  Error wrong(std::string what) const { return lines_.wrong(std::move(what)); }

 private:
  const LineReader& lines_;
  std::span<const std::string_view> columns_;
  std::vector<std::string_view> cells_;
};

}  // namespace orrery
