#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace orrery {

struct BackedUp {
  std::int64_t first = 0;  // records
  std::int64_t last = 0;
};

// Copies the store `from` to the new file `to`, also while a scheduler writes to it. The copy holds
// everything that was acknowledged before the call. Every record of it has been read and checked.
//
// It reads the files and takes no lock. SQLite writes to a store's file only what stands in its
// write-ahead log, and keeps that log until all of it is in the file. So the file, copied first,
// and the log, copied after it, are one state if the log was not begun again meanwhile; its header
// says whether it was. Then the copy is made again, a few times.
Result<BackedUp> back_up(const std::string& from, const std::string& to);

// Unavailable where another process holds the store. Changes nothing.
Status check_not_held(const std::string& path);

}  // namespace orrery
