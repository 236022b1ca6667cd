#include "service/callers.h"

#include <chrono>

#include "trust/certificates.h"
#include "trust/logins.h"

namespace orrery {

Access Callers::access() {
  return {.identify = [this](const std::string& pem) { return identify(pem); },
          .admit = [this](const Caller& caller) { return admit(caller); }};
}

Result<Caller> Callers::identify(const std::string& certificate_pem) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(certificate_pem);
    if (found != known_.end()) return found->second;
  }
  // The connection has verified it: who signed it, and that it is valid now.
  TRY_ASSIGN(const Identity identity, identity_of(certificate_pem));
  const Caller caller{.role = static_cast<Caller::Role>(identity.role), .name = identity.name};
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kRemembered) known_.clear();
  known_[certificate_pem] = caller;
  return caller;
}

Result<Caller> Callers::identify_local(uid_t uid, uid_t owner) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto found = logins_.find(uid);
    if (found != logins_.end() && now - found->second.asked < std::chrono::minutes(1)) {
      return found->second.caller;
    }
  }
  TRY_ASSIGN(const Identity identity, local_identity(uid, owner));
  const Caller caller{.role = static_cast<Caller::Role>(identity.role), .name = identity.name};
  const std::lock_guard lock(mutex_);
  if (logins_.size() >= kRemembered) logins_.clear();
  logins_[uid] = {.caller = caller, .asked = now};
  return caller;
}

Status Callers::admit(const Caller& caller) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::lock_guard lock(mutex_);
  return limit_.check(caller.name, std::chrono::duration_cast<std::chrono::nanoseconds>(now));
}

}  // namespace orrery
