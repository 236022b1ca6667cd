#pragma once

#include <cstddef>
#include <vector>

#include "model/time.h"

namespace orrery {

// Means over time of several values that change in steps, in buckets of equal width. The width
// doubles whenever the buckets no longer reach the last time, so their number stays between half of
// kBucketsMax and kBucketsMax however long it goes on.
class TimeMeans {
 public:
  static constexpr std::size_t kBucketsMax = 800;

  TimeMeans(Time start, std::size_t values);

  // An earlier time than that of a call before counts as that time.
  void advance(Time now);

  // The value is `level` from `now` on.
  void set(Time now, std::size_t value, double level);

  // Of every bucket up to the last time; the last bucket over the part of it that has passed.
  std::vector<double> means(std::size_t value) const;

  Time start() const { return start_; }
  Duration width() const { return width_; }

 private:
  struct Value {
    Time since;
    double level = 0;
    std::vector<double> sums;  // level x nanoseconds; missing buckets are 0
  };

  void bring_up(Value& value) const;

  Time start_;
  Time now_;
  Duration width_;
  std::vector<Value> values_;
};

}  // namespace orrery
