#include "report/metrics/time_means.h"

#include <algorithm>
#include <functional>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr Duration kFirstWidth = std::chrono::milliseconds(1);

// Joins neighbours by `join` where there are two.
template <class Join>
void halve(std::vector<double>& buckets, Join join) {
  for (std::size_t i = 0; i < buckets.size(); i += 2) {
    buckets[i / 2] = i + 1 < buckets.size() ? join(buckets[i], buckets[i + 1]) : buckets[i];
  }
  buckets.resize((buckets.size() + 1) / 2);
}

double lower(double a, double b) { return std::min(a, b); }
double higher(double a, double b) { return std::max(a, b); }

// `level` lasted within the buckets from `first` to before `end`.
void extend(TimeMeans::Bounds& bounds, double level, std::size_t first, std::size_t end) {
  const std::size_t seen = bounds.low.size();
  bounds.low.resize(std::max(seen, end), level);
  bounds.high.resize(std::max(seen, end), level);
  for (std::size_t i = first; i < std::min(seen, end); ++i) {
    bounds.low[i] = lower(bounds.low[i], level);
    bounds.high[i] = higher(bounds.high[i], level);
  }
}

}  // namespace

TimeMeans::TimeMeans(Time start, const TimeMeansOptions& options)
    : start_(start), now_(start), width_(kFirstWidth), buckets_max_(options.buckets_max) {
  values_.assign(options.values, Value{start, 0, {}, {}});
  for (std::size_t i = 0; i < options.bounded; ++i) values_[i].bounds.emplace();
}

void TimeMeans::advance(Time now) {
  now_ = std::max(now_, now);
  while ((now_ - start_) / width_ >= static_cast<std::int64_t>(buckets_max_)) {
    width_ *= 2;
    for (Value& value : values_) {
      halve(value.sums, std::plus<>());
      if (!value.bounds) continue;
      halve(value.bounds->low, lower);
      halve(value.bounds->high, higher);
    }
  }
}

void TimeMeans::set(Time now, std::size_t value, double level) {
  advance(now);
  bring_up(values_[value]);
  values_[value].level = level;
}

// A value that has stood still for long is spread over the buckets only now, so that each costs
// something when it changes and nothing while others do.
void TimeMeans::bring_up(Value& value) const {
  if (now_ <= value.since) return;
  if (value.bounds) {
    // What ends with a bucket does not last within the next one.
    const auto first = static_cast<std::size_t>((value.since - start_) / width_);
    const auto end = static_cast<std::size_t>((now_ - start_ - Duration(1)) / width_) + 1;
    extend(*value.bounds, value.level, first, end);
  }
  if (value.level != 0) {
    const auto last = static_cast<std::size_t>((now_ - start_) / width_);
    if (value.sums.size() <= last) value.sums.resize(last + 1);
    auto bucket = static_cast<std::size_t>((value.since - start_) / width_);
    Time from = value.since;
    for (; bucket <= last; ++bucket) {
      const Time to = std::min(now_, start_ + width_ * static_cast<std::int64_t>(bucket + 1));
      value.sums[bucket] += value.level * static_cast<double>((to - from).count());
      from = to;
    }
  }
  value.since = now_;
}

std::vector<double> TimeMeans::means(std::size_t value) const {
  Value copy = values_[value];
  bring_up(copy);
  const Duration passed = now_ - start_;
  const auto whole = static_cast<std::size_t>(passed / width_);
  const Duration part = passed % width_;
  copy.sums.resize(whole + (part > Duration::zero() ? 1 : 0));
  for (std::size_t i = 0; i < copy.sums.size(); ++i) {
    copy.sums[i] /= static_cast<double>((i < whole ? width_ : part).count());
  }
  return copy.sums;
}

TimeMeans::Bounds TimeMeans::bounds(std::size_t value) const {
  Value copy = values_[value];
  INVARIANT(copy.bounds, "bounds are asked of bounded values only");
  bring_up(copy);
  return *std::move(copy.bounds);
}

}  // namespace orrery
