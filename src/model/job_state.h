#pragma once

#include <cstdint>
#include <string_view>

namespace orrery {

enum class JobState : std::uint8_t {
  Pending,  // submitted, has not run yet
  Running,
  Paused,  // has run, holds nothing now
  Done,
  Failed,
  Rejected,
  Cancelled,
};

constexpr bool is_final(JobState state) { return state >= JobState::Done; }
std::string_view to_string(JobState state);

}  // namespace orrery
