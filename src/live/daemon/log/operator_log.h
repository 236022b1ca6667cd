#pragma once

#include <string>

#include "live/store/record.h"

namespace orrery {

// The line of the operator's log for a record: nodes that join, leave, are lost or come back, and a
// log that lacks records. Empty: the record has none.
std::string operator_line(const Record& record);

}  // namespace orrery
