#pragma once

#include <vector>

#include "base/result.h"
#include "cloud/analysis/facts.h"
#include "cloud/analysis/inconsistencies.h"
#include "cloud/analysis/rows.h"
#include "cloud/measurements/published_data.h"
#include "cloud/provider/prices.h"

namespace orrery {

// Everything that the published measurements say.
struct Analysis {
  std::vector<ConfigFacts> configs;  // they point into the data
  std::vector<AnalysisRow> rows;     // the published tables, then what goes beyond them
  std::vector<Inconsistency> inconsistencies;
};

// `data` outlives the result. An error is a price that is missing.
Result<Analysis> analyse(const PublishedData& data, const PriceList& prices);

}  // namespace orrery
