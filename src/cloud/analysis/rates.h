#pragma once

#include <array>

#include "base/result.h"
#include "cloud/measurements/training_setup.h"
#include "cloud/provider/prices.h"

namespace orrery {

// What the servers of the published runs cost, in USD a second.
struct Rates {
  double k80_on_demand = 0;
  std::array<double, 3> spot{};  // by GPU
  double parameter_server = 0;   // on-demand, without GPU

  double of_worker(const TrainingSetup& setup, MeasuredGpu gpu) const {
    return setup.on_demand ? k80_on_demand : spot[static_cast<std::size_t>(gpu)];
  }
  // Of the whole cluster while all its servers run.
  double of_cluster(const TrainingSetup& setup) const;
};

// NotFound names the offer that the list lacks. Of offers in several zones the first counts: the
// published runs were charged alike everywhere.
Result<Rates> rates_of(const PriceList& prices);

// The prices of February 2019, which the published costs were computed with.
Result<PriceList> published_prices();

}  // namespace orrery
