#pragma once

#include <cstddef>

#include "base/result.h"
#include "cloud/market/spot_job.h"
#include "cloud/market/spot_market.h"

namespace orrery {

// The least cost of any plan that knows the whole market, holds one machine at a time and decides
// at the begin of each tick. Exact. Job and start have passed check_spot_job() and
// check_spot_start(). Fails only where tick and change-over have so small a common divisor that the
// table would not fit into memory.
Result<double> optimal_spot_cost(const SpotMarket& market, const SpotJob& job, std::size_t start);

}  // namespace orrery
