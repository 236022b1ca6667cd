#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "rpc/access.h"
#include "trust/rate_limit.h"

namespace orrery {

// Who calls, by certificate, and whether not too often. Certificates are read once and remembered.
// Any thread may use it.
class Callers {
 public:
  explicit Callers(RateLimitOptions limits) : limit_(limits) {}

  Access access();

 private:
  static constexpr std::size_t kRemembered = 10'000;

  Result<Caller> identify(const std::string& certificate_pem);
  Status admit(const Caller& caller);

  std::mutex mutex_;
  std::unordered_map<std::string, Caller> known_;
  RateLimit limit_;
};

}  // namespace orrery
