#include "live/auth/issued.h"

#include <fmt/format.h>

#include "live/auth/line_words.h"

namespace orrery {

void IssuedCertificates::put(const CertificateFacts& certificate) {
  issued_.insert_or_assign(certificate.serial, certificate);
}

std::string issued_id(const std::string& serial) { return "certificate:" + serial; }

std::string write_issued(const CertificateFacts& certificate) {
  return fmt::format("certificate {} {} {} {} {}", certificate.serial,
                     to_string(certificate.identity.role), certificate.identity.name,
                     certificate.validity.from.time_since_epoch().count(),
                     certificate.validity.until.time_since_epoch().count());
}

Result<CertificateFacts> read_issued(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() != 6 || words[0] != "certificate") {
    return invalid("no certificate's line: it reads certificate SERIAL ROLE NAME FROM UNTIL");
  }
  const auto role = role_named(words[2]);
  const auto from = number_in<std::int64_t>(words[4]);
  const auto until = number_in<std::int64_t>(words[5]);
  if (!role || !from || !until) return invalid("certificate's line: a word that cannot be read");
  TRY(check_serial(words[1]));
  TRY(check_caller_name(words[3]));
  return CertificateFacts{std::string(words[1]),
                          {*role, std::string(words[3])},
                          {std::chrono::sys_seconds(std::chrono::seconds(*from)),
                           std::chrono::sys_seconds(std::chrono::seconds(*until))}};
}

}  // namespace orrery
