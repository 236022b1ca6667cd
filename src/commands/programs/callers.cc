#include "commands/programs/callers.h"

#include <chrono>

#include "live/auth/certificates.h"
#include "live/auth/logins.h"

namespace orrery {

Access Callers::access() {
  return {.identify = [this](const std::string& pem) { return identify(pem); },
          .admit = [this](const Caller& caller) { return admit(caller); }};
}

// Its signature is checked once; the certificate cannot change.
Result<CertificateFacts> Callers::known(const std::string& certificate_pem) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(certificate_pem);
    if (found != known_.end()) return found->second;
  }
  TRY_ASSIGN(CertificateFacts facts, signed_caller(options_.ca_pem, certificate_pem));
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kRemembered) known_.clear();
  known_[certificate_pem] = facts;
  return facts;
}

Result<Caller> Callers::identify(const std::string& certificate_pem) {
  TRY_ASSIGN(const CertificateFacts facts, known(certificate_pem));
  const auto now = options_.now();
  Status good = check_time(facts, now);
  if (good.ok() && options_.revocations != nullptr) good = options_.revocations->check(facts);
  if (!good.ok()) {
    say_refused(facts, good.error(), now);
    return good.error();
  }
  TRY(options_.served.check(facts.identity));
  return Caller{.role = static_cast<Caller::Role>(facts.identity.role),
                .name = facts.identity.name};
}

// Once an hour for a certificate: an agent tries again every few seconds.
void Callers::say_refused(const CertificateFacts& certificate, const Error& why,
                          std::chrono::sys_seconds now) {
  {
    const std::lock_guard lock(mutex_);
    if (said_.size() >= kRemembered) said_.clear();
    const auto [last, first] = said_.try_emplace(certificate.serial, now);
    if (!first && now < last->second + kSaidAgain) return;
    last->second = now;
  }
  if (options_.say) options_.say("refused: " + why.message);
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
  TRY(options_.served.check(identity));
  const Caller caller{.role = static_cast<Caller::Role>(identity.role), .name = identity.name};
  const std::lock_guard lock(mutex_);
  if (logins_.size() >= kRemembered) logins_.clear();
  logins_[uid] = {.caller = caller, .asked = now};
  return caller;
}

std::vector<std::string> Callers::groups_of(const std::string& user) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto found = groups_.find(user);
    if (found != groups_.end() && now - found->second.asked < std::chrono::minutes(1)) {
      return found->second.names;
    }
  }
  std::vector<std::string> names = groups_of_login(user);
  const std::lock_guard lock(mutex_);
  if (groups_.size() >= kRemembered) groups_.clear();
  groups_[user] = {.names = names, .asked = now};
  return names;
}

Status Callers::admit(const Caller& caller) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::lock_guard lock(mutex_);
  return limit_.check(caller.name, std::chrono::duration_cast<std::chrono::nanoseconds>(now));
}

}  // namespace orrery
