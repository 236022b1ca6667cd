#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "live/auth/rate_limit.h"
#include "live/auth/revocations.h"
#include "live/auth/served_users.h"
#include "live/rpc/access.h"

namespace orrery {

struct CallersOptions {
  RateLimitOptions limits{};
  std::string ca_pem{};
  ServedUsers served{};
  std::shared_ptr<const Revocations> revocations{};  // none: nothing is revoked
  std::function<std::chrono::sys_seconds()> now{};
  std::function<void(const std::string&)> say{};  // a line of the operator's log
};

// Identifies callers by certificate or by the login on this machine, refuses those that are not
// served here, and bounds their calls. Certificates are read once and remembered, the names of
// logins for a minute. Every call checks that the certificate is valid now and not revoked. Any
// thread may use it.
class Callers {
 public:
  explicit Callers(CallersOptions options)
      : options_(std::move(options)), limit_(options_.limits) {}

  Access access();
  // `owner` administers as root does.
  Result<Caller> identify_local(uid_t uid, uid_t owner);
  Status admit(const Caller& caller);
  // Of this machine, remembered for a minute.
  std::vector<std::string> groups_of(const std::string& user);

 private:
  static constexpr std::size_t kRemembered = 10'000;
  static constexpr std::chrono::hours kSaidAgain{1};

  struct Login {
    Caller caller{};
    std::chrono::steady_clock::time_point asked{};
  };

  struct Groups {
    std::vector<std::string> names{};
    std::chrono::steady_clock::time_point asked{};
  };

  Result<Caller> identify(const std::string& certificate_pem);
  Result<CertificateFacts> known(const std::string& certificate_pem);
  void say_refused(const CertificateFacts& certificate, const Error& why,
                   std::chrono::sys_seconds now);

  const CallersOptions options_;
  std::mutex mutex_;
  std::unordered_map<std::string, CertificateFacts> known_;
  std::unordered_map<std::string, std::chrono::sys_seconds> said_;  // by serial number
  std::unordered_map<uid_t, Login> logins_;
  std::unordered_map<std::string, Groups> groups_;
  RateLimit limit_;
};

}  // namespace orrery
