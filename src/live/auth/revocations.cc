#include "live/auth/revocations.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "live/auth/limits.h"
#include "live/auth/line_words.h"

namespace orrery {
namespace {

constexpr std::string_view kEvery = "*";

// Of each serial number and of each identity there is one at most.
std::string serial_id(const std::string& serial) { return "revoked:" + serial; }
std::string identity_id(const Identity& identity) {
  return fmt::format("revoked:{}/{}", to_string(identity.role), identity.name);
}

Error revoked(const CertificateFacts& certificate, const Revocation& revocation) {
  return {
      Code::Unauthenticated,
      fmt::format("the certificate of {} {} was revoked by {}: ask an admin for a token and "
                  "run `orrery join` again",
                  to_string(certificate.identity.role), certificate.identity.name, revocation.by)};
}

}  // namespace

std::chrono::sys_seconds Revocation::until() const { return at + kAgentLife + kClockSlack; }

std::string Revocation::id() const {
  return serial.empty() ? identity_id(identity) : serial_id(serial);
}

std::string write_revocation(const Revocation& revocation) {
  const bool one = !revocation.serial.empty();
  return fmt::format("revoked {} {} {} {} {}", one ? std::string_view(revocation.serial) : kEvery,
                     to_string(revocation.identity.role),
                     revocation.identity.name.empty() ? kEvery : revocation.identity.name,
                     revocation.at.time_since_epoch().count(), revocation.by);
}

Result<Revocation> read_revocation(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() != 6 || words[0] != "revoked") {
    return invalid("no revocation: it reads revoked SERIAL ROLE NAME AT BY");
  }
  const auto role = role_named(words[2]);
  const auto at = number_in<std::int64_t>(words[4]);
  if (!role || !at) return invalid("revocation: a role or a time that cannot be read");
  Revocation revocation{.serial = std::string(words[1] == kEvery ? "" : words[1]),
                        .identity = {*role, std::string(words[3] == kEvery ? "" : words[3])},
                        .at = std::chrono::sys_seconds(std::chrono::seconds(*at)),
                        .by = std::string(words[5])};
  if (!revocation.serial.empty()) {
    TRY(check_serial(revocation.serial));
  } else {
    TRY(check_caller_name(revocation.identity.name));
  }
  return revocation;
}

void Revocations::put(const Revocation& revocation) {
  const std::lock_guard lock(mutex_);
  revocations_.insert_or_assign(revocation.id(), revocation);
}

void Revocations::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  revocations_.erase(id);
}

Status Revocations::check(const CertificateFacts& certificate) const {
  const std::lock_guard lock(mutex_);
  if (revocations_.empty()) return {};
  if (const auto one = revocations_.find(serial_id(certificate.serial));
      one != revocations_.end()) {
    return revoked(certificate, one->second);
  }
  const auto every = revocations_.find(identity_id(certificate.identity));
  const auto issued = certificate.validity.from + kClockSlack;
  if (every != revocations_.end() && issued <= every->second.at) {
    return revoked(certificate, every->second);
  }
  return {};
}

std::chrono::sys_seconds Revocations::free_from(const Identity& identity) const {
  const std::lock_guard lock(mutex_);
  const auto every = revocations_.find(identity_id(identity));
  if (every == revocations_.end()) return {};
  return every->second.at + std::chrono::seconds(1);
}

std::map<std::string, Revocation> Revocations::all() const {
  const std::lock_guard lock(mutex_);
  return revocations_;
}

}  // namespace orrery
