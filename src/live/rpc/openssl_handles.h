#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace orrery {

struct OpensslFree {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
  void operator()(X509_STORE_CTX* check) const { X509_STORE_CTX_free(check); }
};
template <class Type>
using Openssl = std::unique_ptr<Type, OpensslFree>;

inline Openssl<BIO> pem_reader(const std::string& pem) {
  return Openssl<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}
// The next certificate of a PEM text; null after the last. OpenSSL's queue of errors stays empty: a
// handshake on this thread would take what is in it for its own.
inline Openssl<X509> next_certificate(BIO* from) {
  Openssl<X509> next(PEM_read_bio_X509(from, nullptr, nullptr, nullptr));
  if (next == nullptr) ERR_clear_error();
  return next;
}
// The key of a PEM text; null if there is none.
inline Openssl<EVP_PKEY> key_in(const std::string& pem) {
  Openssl<EVP_PKEY> key(PEM_read_bio_PrivateKey(pem_reader(pem).get(), nullptr, nullptr, nullptr));
  if (key == nullptr) ERR_clear_error();
  return key;
}
inline Openssl<X509> first_certificate(const std::string& pem) {
  return next_certificate(pem_reader(pem).get());
}
// Empty where there is no certificate.
std::string pem_of(X509* certificate);

}  // namespace orrery
