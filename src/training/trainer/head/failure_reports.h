#pragma once

#include <optional>
#include <string>

#include "model/time.h"

namespace orrery {

// What to say of a write that fails again and again, as on a full disk: the first failure at once,
// later ones after 10, 20, 40 s and so on, and that it works again. Times are in order.
class FailureReports {
 public:
  explicit FailureReports(std::string what) : what_(std::move(what)) {}  // "checkpoints"

  std::optional<std::string> failed(const std::string& why, Time now);
  std::optional<std::string> worked(Time now);

 private:
  const std::string what_;
  int failures_ = 0;  // since it worked
  Time first_{};
  Time next_{};  // no report before
  Duration pause_{};
};

}  // namespace orrery
