#pragma once

#include <cstdint>
#include <string>

#include "model/time.h"
#include "protocol/assignment.h"

// How a job's output travels from its node to whoever reads it.

namespace orrery {

struct LogRequest {
  std::int64_t request = 0;
  LaunchName launch{};
  std::int64_t offset = 0;
  std::int64_t most = 65536;
  Duration wait{};  // for something new
  bool operator==(const LogRequest&) const = default;
};

// A piece of a job's output.
struct LogPiece {
  std::int64_t request = 0;
  std::string bytes{};
  std::int64_t offset = 0;  // of the first byte
  bool ended = false;       // the job has, and this is the last
  std::string error{};      // why there is none
  bool operator==(const LogPiece&) const = default;
};

}  // namespace orrery
