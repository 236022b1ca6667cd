#pragma once

#include "base/database/database.h"
#include "base/result.h"

namespace orrery {

inline constexpr std::int64_t kLedgerVersion = 1;

// Sets the connection up for a ledger (a write-ahead log, each commit on disk when it returns) and
// makes its tables in a new file. A file of another program or another version is refused, and left
// as it is.
Status prepare_ledger(Database& database);

// Refuses what is no ledger of this version. Writes nothing.
Status check_ledger(Database& database);

}  // namespace orrery
