#pragma once

#include <cstdint>
#include <string>

#include "live/api/assignment.h"
#include "model/time.h"

// How a job's output travels from its node to its readers.

namespace orrery {

// A piece of a job's output.
struct LogPiece {
  std::int64_t request = 0;
  std::string bytes{};
  std::int64_t offset = 0;  // of the first byte
  bool ended = false;       // the job has, and this is the last
  std::string error{};      // why there is none
  bool operator==(const LogPiece&) const = default;
};

struct LogRequest {
  std::int64_t request = 0;
  LaunchName launch{};
  std::int64_t offset = 0;  // negative: that far from the end
  std::int64_t most = 65536;
  Duration wait{};  // for something new
  // Where the launch wrote, for an agent that has forgotten it; empty: to the agent's own file.
  std::string path{};
  std::string user{};   // whose file that must be
  bool errors = false;  // standard error is wanted
  bool operator==(const LogRequest&) const = default;
};

}  // namespace orrery
