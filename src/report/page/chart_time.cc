#include "report/page/chart_time.h"

#include <utility>

namespace orrery {

Series::Line line_of(const TimeMeans& means, std::size_t value) {
  TimeMeans::Bounds bounds = means.bounds(value);
  return {means.means(value), std::move(bounds.low), std::move(bounds.high)};
}

}  // namespace orrery
