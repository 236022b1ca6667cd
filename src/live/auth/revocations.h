#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "live/auth/certificates.h"
#include "live/auth/identity.h"

namespace orrery {

// Certificates that are refused before they end: one by its serial number, or all that an identity
// had at a time. The latter leaves those alone that are issued later.
struct Revocation {
  std::string serial{};  // empty: all of `identity`
  Identity identity{};
  std::chrono::sys_seconds at{};
  std::string by{};

  // No certificate that it concerns is valid after this.
  std::chrono::sys_seconds until() const;
  // "revoked:SERIAL" or "revoked:ROLE/NAME": a later one of the same id stands for both.
  std::string id() const;
};

// One line of text and back; the form in which revocations stand in the scheduler's log.
std::string write_revocation(const Revocation& revocation);
Result<Revocation> read_revocation(std::string_view line);

// The revocations that hold. Asked at every call, from any thread.
class Revocations {
 public:
  void put(const Revocation& revocation);
  void remove(const std::string& id);
  // Unauthenticated, with the reason, for a revoked certificate.
  Status check(const CertificateFacts& certificate) const;
  // The earliest time at which a certificate of this identity is not revoked.
  std::chrono::sys_seconds free_from(const Identity& identity) const;
  std::map<std::string, Revocation> all() const;  // by id

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Revocation> revocations_;
};

}  // namespace orrery
