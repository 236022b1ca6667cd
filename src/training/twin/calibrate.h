#pragma once

#include <span>

#include "base/result.h"
#include "training/twin/twin.h"

namespace orrery {

// What was measured of a run with parameter servers whose workers are alike.
struct PsMeasurement {
  int workers = 8;
  double ssgd_interval_s = 0;  // between updates
  double asgd_interval_s = 0;  // between gradients; 0: unknown
  double shards_busy = 0;      // share of the time under SSGD in which the servers worked
  double jitter = 0.03;
};

// A setup that behaves so. The servers' work in an update of SSGD follows from how busy they were,
// the workers' time is the rest; how that work falls on gradients and on updates is what ASGD shows
// (it makes an update of every gradient). Without an interval of ASGD it is all on gradients, and
// what the twin then says of ASGD is a prediction.
Result<TwinSetup> calibrate(const PsMeasurement& measured);

// Mean time between updates of that many workers, the first ones left out.
double update_interval_s(TwinSetup setup, const Mode& mode, int updates = 400);

// latency_square_per_s: how much longer an iteration lasted with this much latency on its path.
struct LatencyPoint {
  double path_s = 0;
  double longer_s = 0;
};
double latency_square_per_s(std::span<const LatencyPoint> points);

}  // namespace orrery
