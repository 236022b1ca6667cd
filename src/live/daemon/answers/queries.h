#pragma once

#include "live/api/api.h"
#include "live/daemon/answers/round_times.h"
#include "live/daemon/core/core.h"

// What clients can ask of a core, and its answers. Nothing here changes it.

namespace orrery {

StatusAnswer status_of(const Core& core, const StatusRequest& request, const Viewer& viewer,
                       Time now);
NodesAnswer nodes_of(const Core& core);
QuotasAnswer quotas_of(const Core& core);

// The figures of GET /metrics, in Prometheus' text format.
struct LoopFigures {
  std::int64_t submissions = 0;
  std::int64_t records = 0;
  RoundTimes rounds{};
  double resident_bytes = 0;
};
std::string metrics_text(const Core& core, const LoopFigures& figures);

}  // namespace orrery
