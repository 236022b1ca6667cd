#include "report/metrics/completion_times.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

constexpr std::size_t kPointsMax = 200;

}  // namespace

double quantile_s(const std::vector<Duration>& sorted, double q, bool interpolates) {
  if (interpolates) {
    const double place = q * static_cast<double>(sorted.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const double low_s = seconds(sorted[low]);
    const double high_s = seconds(sorted[std::min(low + 1, sorted.size() - 1)]);
    return low_s + (high_s - low_s) * (place - static_cast<double>(low));
  }
  const auto at = static_cast<std::size_t>(q * static_cast<double>(sorted.size()));
  return seconds(sorted[std::min(at, sorted.size() - 1)]);
}

std::vector<Series::Point> distribution(const CompletionTimes& times, std::size_t jobs) {
  std::vector<double> sorted;
  for (const Duration time : times) {
    if (time != kNotCompleted) sorted.push_back(seconds(time));
  }
  std::vector<Series::Point> points;
  if (sorted.empty()) return points;
  std::ranges::sort(sorted);
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
