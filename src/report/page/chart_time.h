#pragma once

#include <cstddef>

#include "model/time.h"
#include "report/metrics/time_means.h"
#include "report/page/series.h"

namespace orrery {

// When the charts begin, and how many buckets they have at most.
struct ChartTime {
  Time start{};
  std::size_t buckets_max = 800;

  // For values that are all bounded but the last ones.
  TimeMeans means(std::size_t bounded, std::size_t others = 0) const {
    return {start, {.values = bounded + others, .bounded = bounded, .buckets_max = buckets_max}};
  }
};

// One of the bounded values.
Series::Line line_of(const TimeMeans& means, std::size_t value);

}  // namespace orrery
