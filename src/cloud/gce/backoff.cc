#include "cloud/gce/backoff.h"

#include <algorithm>
#include <charconv>

namespace orrery {

std::optional<Duration> Backoff::next(std::string_view retry_after) {
  ++failed_;
  if (failed_ >= options_.tries) return std::nullopt;
  Duration pause = options_.first;
  for (int i = 1; i < failed_ && pause < options_.longest; ++i) pause *= 2;
  pause = std::min(pause, options_.longest);
  pause = from_seconds(seconds(pause) * (1 - random_.uniform() / 2));
  int asked_s = 0;
  const auto [end, fault] =
      std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(), asked_s);
  if (fault == std::errc() && asked_s > 0) {
    pause = std::max<Duration>(pause, std::chrono::seconds(std::min(asked_s, 120)));
  }
  return pause;
}

}  // namespace orrery
