#include "live/auth/certificates.h"

#include <arpa/inet.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/x509_vfy.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "live/auth/openssl.h"

namespace orrery {
namespace {

using StoreHandle = std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>>;
using CheckHandle = std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>>;

Result<std::string> request_of(EVP_PKEY* key) {
  const RequestHandle request(X509_REQ_new());
  if (!request || X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), key) != 1 ||
      X509_REQ_sign(request.get(), key, EVP_sha256()) == 0) {
    return openssl_error("cannot make a request for a certificate");
  }
  return write_request(request.get());
}

Result<std::chrono::sys_seconds> time_of(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return openssl_error("certificate: a time that cannot be read", Code::InvalidArgument);
  }
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

std::string_view text_of(const ASN1_IA5STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

Result<Identity> identity_in(const GENERAL_NAMES* names) {
  std::optional<Identity> found;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_URI) continue;
    if (found) return invalid("certificate: names more than one identity");
    TRY_ASSIGN(found, parse_identity(text_of(name->d.uniformResourceIdentifier)));
  }
  if (!found) return invalid("certificate: names no identity; use that of a user or an agent");
  return *found;
}

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

Result<KeyAndRequest> make_key_and_request() {
  TRY_ASSIGN(const KeyHandle key, make_key());
  TRY_ASSIGN(Secret key_pem, write_key(key.get()));
  TRY_ASSIGN(std::string request_pem, request_of(key.get()));
  return KeyAndRequest{std::move(key_pem), std::move(request_pem)};
}

Result<std::string> make_request(const Secret& key_pem) {
  TRY_ASSIGN(const KeyHandle key, read_key(key_pem));
  return request_of(key.get());
}

Result<Identity> identity_of(std::string_view certificate_pem) {
  TRY_ASSIGN(const CertificateHandle certificate, read_certificate(certificate_pem));
  int state = 0;  // -1: there is none; another negative number: more than one, or broken
  const NamesHandle names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, &state, nullptr)));
  if (!names && state != -1) {
    return openssl_error("certificate: its names cannot be read", Code::InvalidArgument);
  }
  return identity_in(names.get());
}

Status verify_certificate(std::string_view ca_pem, std::string_view certificate_pem,
                          CertificateUse use, std::chrono::sys_seconds now) {
  TRY_ASSIGN(const CertificateHandle ca, read_certificate(ca_pem));
  TRY_ASSIGN(const CertificateHandle certificate, read_certificate(certificate_pem));
  const StoreHandle store(X509_STORE_new());
  const CheckHandle check(X509_STORE_CTX_new());
  if (!store || !check || X509_STORE_add_cert(store.get(), ca.get()) != 1 ||
      X509_STORE_CTX_init(check.get(), store.get(), certificate.get(), nullptr) != 1 ||
      X509_STORE_CTX_set_purpose(check.get(), use == CertificateUse::Caller
                                                  ? X509_PURPOSE_SSL_CLIENT
                                                  : X509_PURPOSE_SSL_SERVER) != 1) {
    return openssl_error("cannot verify a certificate");
  }
  X509_VERIFY_PARAM* rules = X509_STORE_CTX_get0_param(check.get());
  X509_VERIFY_PARAM_set_time(rules, now.time_since_epoch().count());
  X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_X509_STRICT);
  if (X509_verify_cert(check.get()) == 1) return {};
  const char* why = X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get()));
  return openssl_error(fmt::format("certificate: {}", why), Code::Unauthenticated);
}

Result<Identity> caller_of(std::string_view ca_pem, std::string_view certificate_pem,
                           std::chrono::sys_seconds now) {
  TRY(verify_certificate(ca_pem, certificate_pem, CertificateUse::Caller, now));
  return identity_of(certificate_pem);
}

Result<Validity> validity_of(std::string_view certificate_pem) {
  TRY_ASSIGN(const CertificateHandle certificate, read_certificate(certificate_pem));
  TRY_ASSIGN(const auto from, time_of(X509_get0_notBefore(certificate.get())));
  TRY_ASSIGN(const auto until, time_of(X509_get0_notAfter(certificate.get())));
  return Validity{from, until};
}

Result<CertificateFacts> facts_of(std::string_view certificate_pem) {
  TRY_ASSIGN(const CertificateHandle certificate, read_certificate(certificate_pem));
  const ASN1_INTEGER* number = X509_get0_serialNumber(certificate.get());
  CertificateFacts facts{
      .serial = hex({reinterpret_cast<const char*>(ASN1_STRING_get0_data(number)),
                     static_cast<std::size_t>(ASN1_STRING_length(number))}),
      .identity = {},
      .validity = {}};
  TRY(check_serial(facts.serial));
  TRY_ASSIGN(facts.identity, identity_of(certificate_pem));
  TRY_ASSIGN(facts.validity, validity_of(certificate_pem));
  return facts;
}

Status check_serial(std::string_view serial) {
  const bool plain = std::all_of(serial.begin(), serial.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (plain && !serial.empty() && serial.size() <= 40) return {};
  return invalid("a serial number has 1 to 40 hexadecimal digits, in small letters");
}

Result<CertificateFacts> signed_caller(std::string_view ca_pem, std::string_view certificate_pem) {
  TRY_ASSIGN(const Validity validity, validity_of(certificate_pem));
  // At a time at which it is valid: the signature alone is asked for.
  TRY(verify_certificate(ca_pem, certificate_pem, CertificateUse::Caller, validity.from));
  return facts_of(certificate_pem);
}

Status check_time(const CertificateFacts& certificate, std::chrono::sys_seconds now) {
  const auto& [from, until] = certificate.validity;
  if (now >= from && now < until) return {};
  const bool over = now >= until;
  return Error{Code::Unauthenticated,
               fmt::format("the certificate of {} {} {} {:%Y-%m-%d %H:%M} UTC (the scheduler's "
                           "clock: {:%Y-%m-%d %H:%M}): {}",
                           to_string(certificate.identity.role), certificate.identity.name,
                           over ? "expired on" : "is not valid before",
                           fmt::gmtime(std::chrono::system_clock::to_time_t(over ? until : from)),
                           fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                           over ? "ask an admin for a token and run `orrery join` again"
                                : "set this machine's clock")};
}

bool should_renew(const Validity& validity, std::chrono::sys_seconds now) {
  return now >= validity.until - (validity.until - validity.from) / 3;
}

Result<bool> covers(std::string_view certificate_pem, const std::vector<std::string>& hosts) {
  TRY_ASSIGN(const CertificateHandle certificate, read_certificate(certificate_pem));
  return std::all_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
    return is_address(host)
               ? X509_check_ip_asc(certificate.get(), host.c_str(), 0) == 1
               : X509_check_host(certificate.get(), host.data(), host.size(), 0, nullptr) == 1;
  });
}

Result<bool> belong_together(std::string_view certificate_pem, const Secret& key_pem) {
  TRY_ASSIGN(const CertificateHandle certificate, read_certificate(certificate_pem));
  TRY_ASSIGN(const KeyHandle key, read_key(key_pem));
  const EVP_PKEY* certified = X509_get0_pubkey(certificate.get());
  return certified != nullptr && EVP_PKEY_eq(certified, key.get()) == 1;
}

Result<std::string> fingerprint_of(std::string_view certificate_pem) {
  TRY_ASSIGN(const CertificateHandle certificate, read_certificate(certificate_pem));
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  if (X509_digest(certificate.get(), EVP_sha256(), reinterpret_cast<unsigned char*>(digest.data()),
                  &size) != 1) {
    return openssl_error("cannot take a fingerprint");
  }
  digest.resize(size);
  return hex(digest);
}

}  // namespace orrery
