#include "model/event.h"

#include <array>

namespace orrery {

std::string_view to_string(EventKind kind) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "submitted", "admitted", "queued",    "started", "resumed",  "moved",    "resized",
      "regrouped", "paused",   "completed", "failed",  "rejected", "cancelled"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace orrery
