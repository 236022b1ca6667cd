#include "training/sync/ward.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.h"

namespace orrery {
namespace {

struct Run {  // of the sorted values
  std::size_t first = 0;
  std::size_t count = 0;
  double sum = 0;

  double mean() const { return sum / static_cast<double>(count); }
};

double distance(const Run& a, const Run& b) {
  const auto in_a = static_cast<double>(a.count);
  const auto in_b = static_cast<double>(b.count);
  return std::sqrt(2 * in_a * in_b / (in_a + in_b)) * std::abs(a.mean() - b.mean());
}

}  // namespace

std::vector<std::vector<std::size_t>> ward_groups(std::span<const double> values,
                                                  double threshold) {
  std::vector<std::size_t> sorted(values.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::stable_sort(sorted, {}, [&](std::size_t i) { return values[i]; });

  std::vector<double> ascending;
  std::vector<Run> runs;
  for (const std::size_t i : sorted) {
    runs.push_back({runs.size(), 1, values[i]});
    ascending.push_back(values[i]);
  }
  const double limit = ascending.empty() ? 0 : threshold * median_of_sorted(ascending);
  std::vector<double> gaps;  // between neighbours: on a line the nearest two are always such
  for (std::size_t i = 1; i < runs.size(); ++i) gaps.push_back(distance(runs[i - 1], runs[i]));
  while (!gaps.empty()) {
    const auto least = std::ranges::min_element(gaps);
    if (*least >= limit) break;
    const auto i = static_cast<std::size_t>(least - gaps.begin());
    runs[i].count += runs[i + 1].count;
    runs[i].sum += runs[i + 1].sum;
    runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    gaps.erase(least);
    if (i > 0) gaps[i - 1] = distance(runs[i - 1], runs[i]);
    if (i < gaps.size()) gaps[i] = distance(runs[i], runs[i + 1]);
  }

  std::vector<std::vector<std::size_t>> groups;
  for (const Run& run : runs) {
    const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(run.first);
    groups.emplace_back(first, first + static_cast<std::ptrdiff_t>(run.count));
  }
  return groups;
}

}  // namespace orrery
