#include "commands/programs/own_certificate.h"

#include <utility>

#include "live/auth/certificates.h"

namespace orrery {

TlsMaterial tls_material(const Credentials& credentials) {
  return {.certificate = credentials.certificate_pem,
          .key = credentials.key_pem.reveal(),
          .authority = credentials.ca_pem};
}

Result<bool> renew_if_due(const std::string& directory, const std::string& name,
                          Credentials& credentials, std::chrono::sys_seconds now,
                          const AskToRenew& ask) {
  TRY_ASSIGN(const Validity validity, validity_of(credentials.certificate_pem));
  if (!should_renew(validity, now)) return false;
  TRY_ASSIGN(const std::string request, make_request(credentials.key_pem));
  TRY_ASSIGN(const JoinAnswer answer,
             ask(tls_material(credentials), {.certificate_request = request}));
  Credentials renewed = credentials;
  renewed.certificate_pem = answer.certificate;
  renewed.ca_pem = answer.authority;
  TRY(save_credentials(directory, name, renewed));
  credentials = std::move(renewed);
  return true;
}

OwnCertificate::OwnCertificate(std::string directory, std::string name, Credentials credentials,
                               AskToRenew ask)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      ask_(std::move(ask)),
      credentials_(std::move(credentials)) {}

TlsMaterial OwnCertificate::material() const {
  const std::lock_guard lock(mutex_);
  return tls_material(credentials_);
}

Result<bool> OwnCertificate::tick(std::chrono::sys_seconds now) {
  Credentials newest;
  {
    const std::lock_guard lock(mutex_);
    newest = credentials_;
  }
  bool other = false;
  // While another process writes them they may not fit together; the next tick reads them again.
  if (auto kept = load_credentials(directory_, name_);
      kept.ok() && kept.value().certificate_pem != newest.certificate_pem) {
    newest = std::move(kept).value();
    next_try_ = {};
    other = true;
  }
  Result<bool> renewed = false;
  if (now >= next_try_) {
    renewed = renew_if_due(directory_, name_, newest, now, ask_);
    if (!renewed.ok()) next_try_ = now + kBetweenTries;
    other = other || (renewed.ok() && renewed.value());
  }
  if (other) {
    const std::lock_guard lock(mutex_);
    credentials_ = std::move(newest);
  }
  if (!renewed.ok() && !other) return renewed;
  return other;
}

}  // namespace orrery
