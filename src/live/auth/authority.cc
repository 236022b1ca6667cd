#include "live/auth/authority.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/state_folder.h"
#include "live/auth/certificates.h"
#include "live/auth/limits.h"
#include "live/auth/openssl.h"

namespace orrery {

struct Authority::Parts {
  CertificateHandle certificate{};
  KeyHandle key{};
  std::string certificate_pem{};
  std::chrono::sys_seconds until{};
};

namespace {

Status set_serial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return openssl_error("no random numbers");
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);  // positive, and of full length
  const std::unique_ptr<BIGNUM, FreeWith<BN_free>> number(BN_bin2bn(bytes, sizeof bytes, nullptr));
  if (!number || !BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate))) {
    return openssl_error("cannot number a certificate");
  }
  return {};
}

Status set_times(X509* certificate, const Validity& validity) {
  if (!ASN1_TIME_set(X509_getm_notBefore(certificate), validity.from.time_since_epoch().count()) ||
      !ASN1_TIME_set(X509_getm_notAfter(certificate), validity.until.time_since_epoch().count())) {
    return openssl_error("a time that no certificate can hold", Code::InvalidArgument);
  }
  return {};
}

Status set_subject(X509* certificate, std::string_view name) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const auto* bytes = reinterpret_cast<const unsigned char*>(name.data());
  if (X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, bytes,
                                 static_cast<int>(name.size()), -1, 0) != 1) {
    return openssl_error("cannot name a certificate");
  }
  return {};
}

// `value` is one of our own constants: OpenSSL's little language for extensions would let a name
// that came from outside say more than a name.
Status add_extension(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, FreeWith<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) {
    return openssl_error("cannot add to a certificate");
  }
  return {};
}

Status add_name(GENERAL_NAMES* names, int kind, int string_kind, std::string_view bytes) {
  NameHandle name(GENERAL_NAME_new());
  ASN1_STRING* value = ASN1_STRING_type_new(string_kind);
  if (!name || !value ||
      ASN1_STRING_set(value, bytes.data(), static_cast<int>(bytes.size())) != 1) {
    ASN1_STRING_free(value);
    return openssl_error("cannot add a name to a certificate");
  }
  GENERAL_NAME_set0_value(name.get(), kind, value);
  if (sk_GENERAL_NAME_push(names, name.get()) == 0) {
    return openssl_error("cannot add a name to a certificate");
  }
  static_cast<void>(name.release());  // the list owns it
  return {};
}

Status add_host(GENERAL_NAMES* names, const std::string& host) {
  unsigned char bytes[16];
  const auto* address = reinterpret_cast<const char*>(bytes);
  if (::inet_pton(AF_INET, host.c_str(), bytes) == 1) {
    return add_name(names, GEN_IPADD, V_ASN1_OCTET_STRING, {address, 4});
  }
  if (::inet_pton(AF_INET6, host.c_str(), bytes) == 1) {
    return add_name(names, GEN_IPADD, V_ASN1_OCTET_STRING, {address, 16});
  }
  const bool plain = std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  });
  if (!plain || host.empty() || host.size() > 253 || host.front() == '.' || host.front() == '-') {
    return invalid(
        "a server's name that cannot be used; give a host name or an IP address "
        "without a port");
  }
  return add_name(names, GEN_DNS, V_ASN1_IA5STRING, host);
}

Status add_names(X509* certificate, const GENERAL_NAMES* names) {
  if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, const_cast<GENERAL_NAMES*>(names), 0,
                        0) != 1) {
    return openssl_error("cannot add names to a certificate");
  }
  return {};
}

// All but the extensions that say what it is for.
Result<CertificateHandle> begin(EVP_PKEY* key, const X509* issuer, std::string_view name,
                                const Validity& validity) {
  CertificateHandle made(X509_new());
  if (!made || X509_set_version(made.get(), X509_VERSION_3) != 1 ||
      X509_set_pubkey(made.get(), key) != 1) {
    return openssl_error("cannot make a certificate");
  }
  TRY(set_serial(made.get()));
  TRY(set_times(made.get(), validity));
  TRY(set_subject(made.get(), name));
  if (X509_set_issuer_name(made.get(), X509_get_subject_name(issuer ? issuer : made.get())) != 1) {
    return openssl_error("cannot make a certificate");
  }
  X509* above = issuer ? const_cast<X509*>(issuer) : made.get();
  TRY(add_extension(made.get(), above, NID_subject_key_identifier, "hash"));
  TRY(add_extension(made.get(), above, NID_authority_key_identifier, "keyid:always"));
  return made;
}

Result<Validity> validity_from(std::chrono::sys_seconds now, std::chrono::seconds life,
                               std::chrono::sys_seconds end) {
  if (life <= std::chrono::seconds(0)) return invalid("a certificate needs a life above 0 s");
  if (now >= end) {
    return Error{Code::FailedPrecondition, "the authority's own certificate has expired"};
  }
  return Validity{now - kClockSlack, life < end - now ? now + life : end};
}

struct Wanted {
  std::string_view subject{};
  const GENERAL_NAMES* names{};
  const char* use{};
};

// The key of a request that its owner signed.
Result<EVP_PKEY*> key_in(X509_REQ* request) {
  EVP_PKEY* key = X509_REQ_get0_pubkey(request);
  if (!is_p256(key)) {
    return openssl_error("request for a certificate: its key is not on P-256; make one",
                         Code::InvalidArgument);
  }
  if (X509_REQ_verify(request, key) != 1) {
    return openssl_error("request for a certificate: not signed by its key", Code::InvalidArgument);
  }
  return key;
}

Result<std::string> sign(std::string_view request_pem, const Wanted& wanted,
                         const Validity& validity, X509* issuer, EVP_PKEY* issuer_key) {
  TRY_ASSIGN(const RequestHandle request, read_request(request_pem));
  TRY_ASSIGN(EVP_PKEY * key, key_in(request.get()));
  TRY_ASSIGN(const CertificateHandle made, begin(key, issuer, wanted.subject, validity));
  TRY(add_extension(made.get(), issuer, NID_basic_constraints, "critical,CA:FALSE"));
  TRY(add_extension(made.get(), issuer, NID_key_usage, "critical,digitalSignature"));
  TRY(add_extension(made.get(), issuer, NID_ext_key_usage, wanted.use));
  TRY(add_names(made.get(), wanted.names));
  if (X509_sign(made.get(), issuer_key, EVP_sha256()) == 0) {
    return openssl_error("cannot sign a certificate");
  }
  return write_certificate(made.get());
}

}  // namespace

Result<Authority> Authority::make(std::chrono::sys_seconds now) {
  TRY_ASSIGN(KeyHandle key, make_key());
  unsigned char mark[4];
  if (RAND_bytes(mark, sizeof mark) != 1) return openssl_error("no random numbers");
  // Two authorities must not have one name: a certificate of the wrong one would then be refused
  // for its signature, which says less to people.
  const std::string name =
      "Orrery authority " + hex({reinterpret_cast<const char*>(mark), sizeof mark});
  const auto until = now + kAuthorityLife;
  TRY_ASSIGN(CertificateHandle made, begin(key.get(), nullptr, name, {now - kClockSlack, until}));
  TRY(add_extension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  TRY(add_extension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign"));
  if (X509_sign(made.get(), key.get(), EVP_sha256()) == 0) {
    return openssl_error("cannot sign a certificate");
  }
  TRY_ASSIGN(std::string pem, write_certificate(made.get()));
  return Authority(
      std::make_shared<Parts>(Parts{std::move(made), std::move(key), std::move(pem), until}));
}

Result<Authority> Authority::load(const Secret& pem, std::chrono::sys_seconds now) {
  TRY_ASSIGN(KeyHandle key, read_key(pem));
  TRY_ASSIGN(CertificateHandle certificate, read_certificate(pem.reveal()));
  TRY_ASSIGN(std::string certificate_pem, write_certificate(certificate.get()));
  if (X509_check_private_key(certificate.get(), key.get()) != 1 ||
      X509_check_ca(certificate.get()) != 1) {
    return openssl_error("key and certificate are not those of one authority",
                         Code::FailedPrecondition);
  }
  TRY_ASSIGN(const Validity validity, validity_of(certificate_pem));
  if (now >= validity.until) {
    return Error{Code::FailedPrecondition,
                 "the authority has expired: remove the file, start again, and let every agent "
                 "and user join again"};
  }
  return Authority(std::make_shared<Parts>(
      Parts{std::move(certificate), std::move(key), std::move(certificate_pem), validity.until}));
}

Result<Authority> Authority::open(const std::string& directory, std::chrono::sys_seconds now) {
  TRY(make_state_folder(directory, Passage::None));
  TRY_ASSIGN(const Fd lock, lock_state_folder(directory));
  return open(directory, lock, now);
}

Result<Authority> Authority::open(const std::string& directory, const Fd& /*lock*/,
                                  std::chrono::sys_seconds now) {
  const std::string path = directory + "/authority.pem";
  const std::string public_path = directory + "/ca.pem";
  auto content = read_private_file(path);
  if (!content.ok() && content.error().code != Code::NotFound) return std::move(content).error();
  if (!content.ok()) {
    TRY_ASSIGN(Authority made, make(now));
    TRY_ASSIGN(const Secret key, write_key(made.parts_->key.get()));
    const Secret both(key.reveal() + made.certificate_pem());
    TRY(write_file_atomically(path, both.reveal(), {.durable = true}));
    TRY(write_file_atomically(public_path, made.certificate_pem(), {.durable = true}));
    return made;
  }
  auto loaded = load(Secret(std::move(content).value()), now);
  if (!loaded.ok()) return std::move(loaded).error().at(path);
  const auto copy = read_file(public_path);
  if (!copy.ok() || copy.value() != loaded.value().certificate_pem()) {
    TRY(write_file_atomically(public_path, loaded.value().certificate_pem(), {.durable = true}));
  }
  return loaded;
}

const std::string& Authority::certificate_pem() const { return parts_->certificate_pem; }

Result<std::string> Authority::issue(std::string_view request_pem, const Identity& identity,
                                     std::chrono::seconds life,
                                     std::chrono::sys_seconds now) const {
  TRY(check_caller_name(identity.name));
  TRY_ASSIGN(const Validity validity, validity_from(now, life, parts_->until));
  const NamesHandle names(sk_GENERAL_NAME_new_null());
  if (!names) return openssl_error("cannot make a certificate");
  TRY(add_name(names.get(), GEN_URI, V_ASN1_IA5STRING, identity_uri(identity)));
  return sign(request_pem, {identity.name, names.get(), "clientAuth"}, validity,
              parts_->certificate.get(), parts_->key.get());
}

Result<std::string> Authority::issue_server(std::string_view request_pem,
                                            const std::vector<std::string>& hosts,
                                            std::chrono::seconds life,
                                            std::chrono::sys_seconds now) const {
  if (hosts.empty()) return invalid("a server's certificate needs a name or an address");
  if (hosts.size() > kHostsMax) {
    return invalid(fmt::format("a server's certificate takes at most {} names", kHostsMax));
  }
  TRY_ASSIGN(const Validity validity, validity_from(now, life, parts_->until));
  const NamesHandle names(sk_GENERAL_NAME_new_null());
  if (!names) return openssl_error("cannot make a certificate");
  for (const std::string& host : hosts) TRY(add_host(names.get(), host));
  return sign(request_pem, {"orrery server", names.get(), "serverAuth"}, validity,
              parts_->certificate.get(), parts_->key.get());
}

}  // namespace orrery
