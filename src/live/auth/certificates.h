#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "live/auth/identity.h"
#include "live/auth/secret.h"

namespace orrery {

// Certificates and requests for them, as PEM text from anywhere: whatever it is, it is read or
// refused. Times are handed in.

struct KeyAndRequest {
  Secret key_pem{};
  std::string request_pem{};
};

// A new P-256 key, which stays where it was made, and a request for a certificate of it. The
// request holds no name: the signer decides the name.
Result<KeyAndRequest> make_key_and_request();
// The same for a key one has, so that a renewed certificate goes with the old key.
Result<std::string> make_request(const Secret& key_pem);

// What a certificate says of its owner. Believe it only of one that was verified: by TLS, or below.
// That of a server names no caller, and is refused.
Result<Identity> identity_of(std::string_view certificate_pem);

enum class CertificateUse { Caller, Server };

// Signed by this authority, for this use, and valid at this time; otherwise Unauthenticated.
Status verify_certificate(std::string_view ca_pem, std::string_view certificate_pem,
                          CertificateUse use, std::chrono::sys_seconds now);

// verify_certificate and identity_of.
Result<Identity> caller_of(std::string_view ca_pem, std::string_view certificate_pem,
                           std::chrono::sys_seconds now);

struct Validity {
  std::chrono::sys_seconds from{};
  std::chrono::sys_seconds until{};
};
Result<Validity> validity_of(std::string_view certificate_pem);

// What a certificate says of itself; as believable as identity_of.
struct CertificateFacts {
  std::string serial{};  // hexadecimal digits
  Identity identity{};
  Validity validity{};
};
Result<CertificateFacts> facts_of(std::string_view certificate_pem);
// Hexadecimal digits, as many as a serial number can have.
Status check_serial(std::string_view serial);

// Signed by this authority for a caller, whenever it is valid; otherwise Unauthenticated.
Result<CertificateFacts> signed_caller(std::string_view ca_pem, std::string_view certificate_pem);

// "the certificate of user ann expired on ..." or "is not valid before ...", with the time that
// this clock has: Unauthenticated. Both times are UTC.
Status check_time(const CertificateFacts& certificate, std::chrono::sys_seconds now);

// Two thirds of its life are gone, which leaves a third for trying again.
bool should_renew(const Validity& validity, std::chrono::sys_seconds now);

// True if a server's certificate is valid for each of these names and addresses.
Result<bool> covers(std::string_view certificate_pem, const std::vector<std::string>& hosts);

// True if the key is that of the certificate.
Result<bool> belong_together(std::string_view certificate_pem, const Secret& key_pem);

// SHA-256 of the certificate, 64 hexadecimal digits: how it is named to a joiner that has none yet.
Result<std::string> fingerprint_of(std::string_view certificate_pem);

}  // namespace orrery
