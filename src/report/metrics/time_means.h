#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/time.h"

namespace orrery {

struct TimeMeansOptions {
  std::size_t values = 1;
  std::size_t bounded = 0;        // of the first of them bounds() is known too
  std::size_t buckets_max = 800;  // even
};

// Means over time of several values that change in steps, in buckets of equal width. The width
// doubles whenever the buckets no longer reach the last time, so their number stays between half of
// buckets_max and buckets_max however long it goes on.
class TimeMeans {
 public:
  // The lowest and the highest level that lasted within each bucket, for however short a time.
  struct Bounds {
    std::vector<double> low;
    std::vector<double> high;
  };

  TimeMeans(Time start, const TimeMeansOptions& options);

  // An earlier time than that of a call before counts as that time.
  void advance(Time now);

  // The value is `level` from `now` on.
  void set(Time now, std::size_t value, double level);

  // Of every bucket up to the last time; the last bucket over the part of it that has passed.
  std::vector<double> means(std::size_t value) const;
  // Of the same buckets. Precondition: `value` is one of the bounded ones.
  Bounds bounds(std::size_t value) const;

  Time start() const { return start_; }
  Duration width() const { return width_; }

 private:
  struct Value {
    Time since;
    double level = 0;
    std::vector<double> sums;      // level x nanoseconds; missing buckets are 0
    std::optional<Bounds> bounds;  // missing buckets have seen no level
  };

  void bring_up(Value& value) const;

  Time start_;
  Time now_;
  Duration width_;
  std::size_t buckets_max_;
  std::vector<Value> values_;
};

}  // namespace orrery
