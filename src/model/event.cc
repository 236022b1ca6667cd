#include "model/event.h"

#include <array>

namespace orrery {

std::string_view to_string(EventKind kind) {
  static constexpr std::array<std::string_view, 16> kNames = {
      "submitted", "admitted",    "queued",    "started",   "resumed", "moved",
      "resized",   "regrouped",   "paused",    "completed", "failed",  "rejected",
      "cancelled", "node_warned", "node_lost", "node_back"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace orrery
