#pragma once

#include "workload/formats/row.h"
#include "workload/outages/fault_trace.h"
#include "workload/text/line_reader.h"

namespace orrery {

// The formats of fault traces, a file each. The caller adds the name and the end of the record.

// The published list of events of InfiniteHBD: a fault of a server begins or ends.
Result<FaultTrace> read_fault_events(LineReader& lines);
// Ours: a row an outage.
Result<FaultTrace> read_fault_table(LineReader& lines);

inline constexpr std::size_t kFaultsMax = 10'000'000;

}  // namespace orrery
