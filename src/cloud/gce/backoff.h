#pragma once

#include <optional>
#include <string_view>

#include "base/random.h"
#include "model/time.h"

namespace orrery {

struct BackoffOptions {
  int tries = 6;
  Duration first = std::chrono::seconds(1);
  Duration longest = std::chrono::seconds(32);
};

// The pauses between the tries of one call: each twice the one before, less up to a half, so that
// callers that failed together do not come back together.
class Backoff {
 public:
  Backoff(const BackoffOptions& options, Random& random) : options_(options), random_(random) {}

  // Nothing after the last try. `retry_after`: seconds that the service asks for, or empty.
  std::optional<Duration> next(std::string_view retry_after);

 private:
  BackoffOptions options_;
  Random& random_;
  int failed_ = 0;
};

}  // namespace orrery
