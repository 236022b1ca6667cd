#include "experiments/figures/comparison.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {
namespace {

// Below this a difference is one of rounding in what was published or printed.
constexpr double kSamePct = 1e-3;

}  // namespace

std::optional<double> Comparison::difference_pct() const {
  const auto& base = reference ? reference : published;
  if (!ours || !base || *base == 0) return std::nullopt;
  if (reference && std::abs(*ours - *base) <= rounding) return 0;
  return (*ours - *base) / *base * 100;
}

std::string difference_text(const Comparison& row) {
  const auto pct = row.difference_pct();
  if (!pct) return "-";
  if (std::abs(*pct) < kSamePct) return "same";
  const double off = std::abs(*pct);
  return fmt::format("{:+.{}f} %", *pct, off < 0.01 ? 3 : off < 100 ? 2 : 0);
}

Tally tally(std::span<const Comparison> rows, bool with_reference) {
  Tally count;
  double farthest = -1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto pct = rows[i].difference_pct();
    if (!pct || rows[i].reference.has_value() != with_reference) continue;
    const double off = std::abs(*pct);
    ++count.compared;
    count.same += off < kSamePct ? 1 : 0;
    count.within_1_pct += off <= 1 ? 1 : 0;
    if (off > farthest) {
      farthest = off;
      count.worst = i;
    }
  }
  return count;
}

std::string tally_text(const Tally& count, std::span<const Comparison> rows, std::string_view what,
                       std::string_view where) {
  if (count.compared == 0) return "";
  return fmt::format("{} {}: {} the same, {} within 1 %;\n  farthest {:+.2f} %: {}\n",
                     count.compared, what, count.same, count.within_1_pct,
                     *rows[count.worst].difference_pct(), where);
}

}  // namespace orrery
