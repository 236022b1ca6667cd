#pragma once

#include <span>

#include "cloud/provider/server.h"

namespace orrery {

// How often a day a server of this offer is lost, from the lives of a cluster's servers until
// `now`: those that run and those that have ended. A loss is a revocation or a broken host; a
// server that was stopped has only lived.
//
// Servers of one zone and class count together. Their rate is drawn towards that of the class in
// all zones, as far as one expected loss weighs. A spot server is assumed to have been lost once in
// a day before anything is seen; the other classes never.
double losses_per_day(std::span<const Server> servers, const Offer& offer, Time now);

}  // namespace orrery
