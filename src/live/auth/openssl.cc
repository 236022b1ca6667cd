#include "live/auth/openssl.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>

#include <cstring>
#include <utility>

#include "base/invariant.h"
#include "live/auth/limits.h"

namespace orrery {
namespace {

int no_pass_phrase(char*, int, int, void*) { return -1; }

Result<BioHandle> reader_of(std::string_view pem, const char* what) {
  if (pem.size() > kPemBytesMax) {
    return invalid(std::string(what) + ": larger than 16 KiB");
  }
  BioHandle bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!bio) return openssl_error(what);
  return bio;
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

template <class Write>
Result<std::string> written(Write write) {
  const BioHandle bio(BIO_new(BIO_s_mem()));
  if (!bio || write(bio.get()) != 1) return openssl_error("cannot write PEM");
  return text_of(bio.get());
}

}  // namespace

Error openssl_error(std::string what, Code code) {
  if (const unsigned long said = ERR_peek_last_error(); said != 0) {
    const char* reason = ERR_reason_error_string(said);
    what += std::string(" (OpenSSL: ") + (reason ? reason : std::to_string(said).c_str()) + ")";
  }
  ERR_clear_error();
  return {code, std::move(what)};
}

Result<CertificateHandle> read_certificate(std::string_view pem) {
  TRY_ASSIGN(const BioHandle bio, reader_of(pem, "certificate"));
  CertificateHandle found(PEM_read_bio_X509(bio.get(), nullptr, no_pass_phrase, nullptr));
  if (!found) return openssl_error("no certificate in PEM", Code::InvalidArgument);
  return found;
}

Result<RequestHandle> read_request(std::string_view pem) {
  TRY_ASSIGN(const BioHandle bio, reader_of(pem, "request for a certificate"));
  RequestHandle found(PEM_read_bio_X509_REQ(bio.get(), nullptr, no_pass_phrase, nullptr));
  if (!found) return openssl_error("no request for a certificate in PEM", Code::InvalidArgument);
  return found;
}

Result<KeyHandle> read_key(const Secret& pem) {
  TRY_ASSIGN(const BioHandle bio, reader_of(pem.reveal(), "private key"));
  KeyHandle found(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_pass_phrase, nullptr));
  if (!found) return openssl_error("no private key in PEM", Code::InvalidArgument);
  return found;
}

Result<std::string> write_certificate(X509* certificate) {
  return written([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

Result<std::string> write_request(X509_REQ* request) {
  return written([&](BIO* bio) { return PEM_write_bio_X509_REQ(bio, request); });
}

Result<Secret> write_key(EVP_PKEY* key) {
  TRY_ASSIGN(std::string pem, written([&](BIO* bio) {
               return PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr,
                                                    nullptr);
             }));
  return Secret(std::move(pem));
}

Result<KeyHandle> make_key() {
  KeyHandle key(EVP_EC_gen("P-256"));
  if (!key) return openssl_error("cannot make a key");
  return key;
}

bool is_p256(const EVP_PKEY* key) {
  char group[64] = {};
  return key != nullptr && EVP_PKEY_is_a(key, "EC") == 1 &&
         EVP_PKEY_get_group_name(key, group, sizeof group, nullptr) == 1 &&
         std::strcmp(group, SN_X9_62_prime256v1) == 0;
}

std::string sha256(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                 nullptr, EVP_sha256(), nullptr);
  INVARIANT(done == 1, "SHA-256 is always there");
  return digest;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

}  // namespace orrery
