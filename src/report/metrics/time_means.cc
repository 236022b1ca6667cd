#include "report/metrics/time_means.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr Duration kFirstWidth = std::chrono::milliseconds(1);

}  // namespace

TimeMeans::TimeMeans(Time start, std::size_t values)
    : start_(start), now_(start), width_(kFirstWidth) {
  values_.assign(values, Value{start, 0, {}});
}

void TimeMeans::advance(Time now) {
  now_ = std::max(now_, now);
  while ((now_ - start_) / width_ >= static_cast<std::int64_t>(kBucketsMax)) {
    width_ *= 2;
    for (Value& value : values_) {
      std::vector<double>& sums = value.sums;
      for (std::size_t i = 0; i < sums.size(); i += 2) {
        sums[i / 2] = sums[i] + (i + 1 < sums.size() ? sums[i + 1] : 0);
      }
      sums.resize((sums.size() + 1) / 2);
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

}  // namespace orrery
