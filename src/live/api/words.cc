#include <array>
#include <string>

#include "live/api/agent_words.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 8> kEnds = {"exited",          "signalled",  "out of memory",
                                                   "stopped",         "lease lost", "not started",
                                                   "supervisor lost", "time limit"};
constexpr std::array<std::string_view, 4> kStates = {"waiting", "running", "stopping", "ended"};

}  // namespace

std::string_view end_name(JobEnd::Kind kind) { return kEnds[static_cast<std::size_t>(kind)]; }

std::optional<JobEnd::Kind> parse_end(std::string_view name) {
  for (std::size_t i = 0; i < kEnds.size(); ++i) {
    if (name == kEnds[i]) return static_cast<JobEnd::Kind>(i);
  }
  return {};
}

std::string_view to_string(LaunchState state) { return kStates[static_cast<std::size_t>(state)]; }

std::string text(const LaunchName& name) {
  // Without the library, as this is linked into the small supervisor, too.
  return std::to_string(name.job) + "." + std::to_string(name.epoch) + "." +
         std::to_string(name.rank);
}

}  // namespace orrery
