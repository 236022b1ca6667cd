#pragma once

#include <string>

#include "live/daemon/log/book.h"
#include "live/daemon/rights/disclosure.h"
#include "model/view.h"

namespace orrery {

// A moment of the log as people read it: the scheduler's local time, and how far away it is:
// "2026-11-19 14:05 UTC (in 1h00m)".
std::string moment_text(const Book& book, Time at, Time now);

// True if a job with this reason waits until nodes have what it asks for. Limits, dependencies and
// plans for later are other reasons.
bool waits_for_devices(Reason::Code code);

// The sentence of a reason, with dates in place of the log's own time.
std::string reason_text(const Book& book, const Reason& reason, Time now);

// Why a job waits, or how it ended; empty: there is nothing to say.
std::string reason_of(const Book& book, const Job& job, const LiveJob& live, Detail detail,
                      Time now);

}  // namespace orrery
