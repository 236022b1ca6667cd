#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/database/database.h"
#include "base/result.h"

namespace orrery {

// Step n takes a file from version n to n + 1; a new file is version 0. Steps that have been
// released never change: what must be different is a further step.
std::span<const std::string> schema_steps();

// Sets the connection up as a store needs it (alone in the file, a write-ahead log, each commit on
// disk when it returns) and brings the file to the last version, each step in one transaction.
// Refuses, without changing it, a file that is not ours or is of a later version.
//
// `check` is called before anything is changed.
Status prepare_file(Database& database, std::span<const std::string> steps = schema_steps(),
                    const std::function<Status(bool is_new)>& check = {});

}  // namespace orrery
