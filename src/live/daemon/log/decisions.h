#pragma once

#include "live/daemon/log/book.h"

// A decision as the scheduling rounds have it, by ids, and as the log has it, by numbers and names.

namespace orrery {

Decided decided_of(const Book& book, const Event& event);

// `grant` is what the event points to. DataLoss if the book lacks the job or a node.
Result<Event> event_of(const Book& book, const Decided& decided, Time time, Grant& grant);

}  // namespace orrery
