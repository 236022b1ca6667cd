#pragma once

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "base/invariant.h"
#include "live/rpc/access.h"

namespace orrery {

// A certificate authority for tests: makes what a server or a client needs to show itself.
class TestAuthority {
 public:
  TestAuthority()
      : key_(make_key()), certificate_(make("authority", key_.get(), true, {-300, 3600})) {}

  // Seconds from now.
  struct Validity {
    int from = -300;
    int until = 3600;
  };
  // For "localhost" and 127.0.0.1, and with `name` as its common name.
  TlsMaterial issue(const std::string& name, Validity validity = {-300, 3600}) {
    const Key key = make_key();
    const Certificate certificate = make(name, key.get(), false, validity);
    const Bio bio(BIO_new(BIO_s_mem()), &BIO_free);
    PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return {.certificate = pem(certificate.get()), .key = text(bio.get()), .authority = root()};
  }
  std::string root() const { return pem(certificate_.get()); }

  // The common name of a certificate.
  static std::string name_in(const std::string& certificate_pem) {
    const Bio bio(BIO_new_mem_buf(certificate_pem.data(), static_cast<int>(certificate_pem.size())),
                  &BIO_free);
    const Certificate read(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), &X509_free);
    if (read == nullptr) return {};
    char name[100] = {};
    X509_NAME_get_text_by_NID(X509_get_subject_name(read.get()), NID_commonName, name, sizeof name);
    return name;
  }

 private:
  using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

  static Key make_key() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }
  static std::string text(BIO* bio) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio, &bytes);
    return {bytes, static_cast<std::size_t>(size)};
  }
  static std::string pem(X509* certificate) {
    const Bio bio(BIO_new(BIO_s_mem()), &BIO_free);
    PEM_write_bio_X509(bio.get(), certificate);
    return text(bio.get());
  }
  static void extend(X509* certificate, int kind, const char* value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    INVARIANT(extension != nullptr, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }

  Certificate make(const std::string& name, EVP_PKEY* key, bool is_authority, Validity validity) {
    Certificate made(X509_new(), &X509_free);
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), validity.from);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), validity.until);
    X509_set_pubkey(made.get(), key);
    X509_NAME* const subject = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(made.get(),
                         is_authority ? subject : X509_get_subject_name(certificate_.get()));
    extend(made.get(), NID_basic_constraints, is_authority ? "critical,CA:TRUE" : "CA:FALSE");
    if (!is_authority) extend(made.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    X509_sign(made.get(), key_.get(), EVP_sha256());
    return made;
  }

  int serial_ = 0;
  Key key_;
  Certificate certificate_;
};

}  // namespace orrery
