#pragma once

#include "live/api/api_cluster.h"
#include "live/forecast/forecast.h"

namespace orrery {

// What would become of one more job, or of those that wait: as things are, with another policy,
// with more nodes, and with both, as far as the request names them; and which jobs it would delay.
// In words and as a JSON object (docs/formats/whatif.md). `limits` says how far the forecast
// goes, and what is known of models.
Result<WhatIfAnswer> what_if_live(const std::string& situation, const WhatIfRequest& request,
                                  const ForecastOptions& limits = {});

}  // namespace orrery
