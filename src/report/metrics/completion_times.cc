#include "report/metrics/completion_times.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr std::size_t kPointsMax = 200;

}  // namespace

std::vector<double> ascending_s(const CompletionTimes& times) {
  std::vector<double> sorted;
  for (const Duration time : times) {
    if (time != kNotCompleted) sorted.push_back(seconds(time));
  }
  std::ranges::sort(sorted);
  return sorted;
}

std::vector<Series::Point> distribution(const CompletionTimes& times, std::size_t jobs) {
  const std::vector<double> sorted = ascending_s(times);
  std::vector<Series::Point> points;
  if (sorted.empty()) return points;
  const auto all = static_cast<double>(std::max(jobs, sorted.size()));
  const auto add = [&](double length) {
    const auto upto = std::ranges::upper_bound(sorted, length) - sorted.begin();
    if (!points.empty() && points.back().completion_time_s >= length) return;
    points.push_back({length, static_cast<double>(upto) / all});
  };
  if (sorted.size() <= kPointsMax) {
    for (const double length : sorted) add(length);
    return points;
  }
  const double low = std::max(sorted.front(), 1e-3);
  const double growth = sorted.back() / low;
  for (std::size_t i = 0; i + 1 < kPointsMax; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(kPointsMax - 1);
    add(low * std::pow(growth, part));
  }
  add(sorted.back());
  return points;
}

}  // namespace orrery
