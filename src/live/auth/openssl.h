#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "live/auth/secret.h"

namespace orrery {

// OpenSSL's objects with owners, its answers as Result, and PEM in and out. Only for this folder.

template <auto Free>
struct FreeWith {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using BioHandle = std::unique_ptr<BIO, FreeWith<BIO_free_all>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using CertificateHandle = std::unique_ptr<X509, FreeWith<X509_free>>;
using RequestHandle = std::unique_ptr<X509_REQ, FreeWith<X509_REQ_free>>;
using NameHandle = std::unique_ptr<GENERAL_NAME, FreeWith<GENERAL_NAME_free>>;
using NamesHandle = std::unique_ptr<GENERAL_NAMES, FreeWith<GENERAL_NAMES_free>>;

// What OpenSSL said last, added to `what`; its queue is empty afterwards.
Error openssl_error(std::string what, Code code = Code::Internal);

// The first block of its kind in the text. InvalidArgument for anything else; no pass phrase
// is ever asked for.
Result<CertificateHandle> read_certificate(std::string_view pem);
Result<RequestHandle> read_request(std::string_view pem);
Result<KeyHandle> read_key(const Secret& pem);

Result<std::string> write_certificate(X509* certificate);
Result<std::string> write_request(X509_REQ* request);
Result<Secret> write_key(EVP_PKEY* key);

Result<KeyHandle> make_key();  // P-256
bool is_p256(const EVP_PKEY* key);

// 32 bytes.
std::string sha256(std::string_view bytes);
std::string hex(std::string_view bytes);

}  // namespace orrery
