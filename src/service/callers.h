#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <string>
#include <unordered_map>

#include "rpc/access.h"
#include "trust/rate_limit.h"

namespace orrery {

// Who calls, by certificate or by the login on this machine, and whether not too often.
// Certificates are read once and remembered, the names of logins for a minute. Any thread may use
// it.
class Callers {
 public:
  explicit Callers(RateLimitOptions limits) : limit_(limits) {}

  Access access();
  // `owner` administers as root does.
  Result<Caller> identify_local(uid_t uid, uid_t owner);
  Status admit(const Caller& caller);

 private:
  static constexpr std::size_t kRemembered = 10'000;

  struct Login {
    Caller caller{};
    std::chrono::steady_clock::time_point asked{};
  };

  Result<Caller> identify(const std::string& certificate_pem);

  std::mutex mutex_;
  std::unordered_map<std::string, Caller> known_;
  std::unordered_map<uid_t, Login> logins_;
  RateLimit limit_;
};

}  // namespace orrery
