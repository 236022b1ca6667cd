#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "live/auth/certificates.h"

namespace orrery {

// Callers' certificates that this authority has issued and that are still valid, by serial number.
// A fold over lines of the scheduler's log. For one thread at a time.
class IssuedCertificates {
 public:
  void put(const CertificateFacts& certificate);
  void remove(const std::string& serial) { issued_.erase(serial); }
  const std::map<std::string, CertificateFacts>& all() const { return issued_; }

 private:
  std::map<std::string, CertificateFacts> issued_;
};

// "certificate:SERIAL", the name under which the line is kept.
std::string issued_id(const std::string& serial);
std::string write_issued(const CertificateFacts& certificate);
Result<CertificateFacts> read_issued(std::string_view line);

}  // namespace orrery
