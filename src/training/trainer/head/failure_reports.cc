#include "training/trainer/head/failure_reports.h"

#include <fmt/format.h>

#include <utility>

#include "model/duration_text.h"

namespace orrery {

std::optional<std::string> FailureReports::failed(const std::string& why, Time now) {
  constexpr Duration kPauseFirst = std::chrono::seconds(10);
  if (++failures_ == 1) {
    first_ = now;
    pause_ = kPauseFirst;
    next_ = now + pause_;
    return why;
  }
  if (now < next_) return std::nullopt;
  pause_ *= 2;
  next_ = now + pause_;
  return fmt::format("{} (failure {} in {})", why, failures_, two_unit_text(now - first_));
}

std::optional<std::string> FailureReports::worked(Time now) {
  const int failures = std::exchange(failures_, 0);
  if (failures == 0) return std::nullopt;
  return fmt::format("{} are written again, after {} failure{} in {}", what_, failures,
                     failures == 1 ? "" : "s", two_unit_text(now - first_));
}

}  // namespace orrery
