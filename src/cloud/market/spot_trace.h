#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

// The spot capacity of one zone over time.
struct SpotTrace {
  std::string name{};  // of the file, without folder and ending
  Duration tick{};     // above 0
  // How many machines could be had; a value holds for its whole tick.
  std::vector<std::int32_t> capacity{};
};

// JSON as described in docs/formats/spot-trace.md. `path` is for messages and the name.
Result<SpotTrace> parse_spot_trace(std::string_view text, const std::string& path);
Result<SpotTrace> read_spot_trace(const std::string& path);

}  // namespace orrery
