#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/formats/orrery_columns.h"
#include "workload/formats/row.h"

namespace orrery {

// Turns one line of JSON Lines into the row that the same job has in our CSV: an object with known
// keys, each once, and values of the kind their column wants. null stands for a value not given.
class JsonRow {
 public:
  // Sets every cell of `row`; they are valid until the next call.
  Status parse(std::string_view line, Row& row);

 private:
  std::array<std::string, kOrreryColumns> texts_;
};

}  // namespace orrery
