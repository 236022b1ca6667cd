#pragma once

#include <cstddef>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

class SpotMarket;

struct HourlyPrices {
  double on_demand = 1;
  double spot = 1.0 / 3;
};

// Work for one machine at a time, with a deadline.
struct SpotJob {
  Duration work{};      // on a machine that works
  Duration deadline{};  // from the start of the plan
  // From the start of a machine until it works. It is paid, and lost with the machine.
  Duration changeover{};
  HourlyPrices prices{};

  // The earliest end that is certain: on demand from the start.
  Duration earliest_end() const { return changeover + work; }
  double on_demand_cost() const { return prices.on_demand * seconds(earliest_end()) / 3600; }
};

// Fails where a value is out of range, or where the deadline cannot be kept even on demand.
Status check_spot_job(const SpotJob& job);
// The last tick at which a plan can start, so that the market lasts until its deadline. Fails where
// there is none.
Result<std::size_t> last_spot_start(const SpotMarket& market, const SpotJob& job);
Status check_spot_start(const SpotMarket& market, const SpotJob& job, std::size_t start);

}  // namespace orrery
