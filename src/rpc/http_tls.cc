#include "rpc/http_tls.h"

#include <openssl/pem.h>

#include <memory>

namespace orrery {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio reader(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
}

Certificate next_certificate(BIO* from) {
  return {PEM_read_bio_X509(from, nullptr, nullptr, nullptr), &X509_free};
}

bool use_certificate(SSL_CTX& context, const std::string& pem) {
  const Bio bio = reader(pem);
  const Certificate own = next_certificate(bio.get());
  if (own == nullptr || SSL_CTX_use_certificate(&context, own.get()) != 1) return false;
  while (const Certificate above = next_certificate(bio.get())) {
    if (SSL_CTX_add1_chain_cert(&context, above.get()) != 1) return false;
  }
  return true;
}

bool use_key(SSL_CTX& context, const std::string& pem) {
  const Bio bio = reader(pem);
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  return key != nullptr && SSL_CTX_use_PrivateKey(&context, key.get()) == 1 &&
         SSL_CTX_check_private_key(&context) == 1;
}

bool trust_authority(SSL_CTX& context, const std::string& pem) {
  const Bio bio = reader(pem);
  int taken = 0;
  while (const Certificate authority = next_certificate(bio.get())) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get()) != 1) return false;
    if (SSL_CTX_add_client_CA(&context, authority.get()) != 1) return false;
    ++taken;
  }
  return taken > 0;
}

}  // namespace

bool set_up_tls(SSL_CTX& context, const TlsMaterial& tls) {
  if (SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION) != 1) return false;
  // A resumed connection would come with the certificate of the one before, unchecked.
  SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(&context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(&context, 0);
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
  return use_certificate(context, tls.certificate) && use_key(context, tls.key) &&
         trust_authority(context, tls.authority);
}

std::string client_certificate(const SSL* connection) {
  if (connection == nullptr) return {};
  const Certificate certificate(SSL_get1_peer_certificate(connection), &X509_free);
  if (certificate == nullptr) return {};
  const Bio bio(BIO_new(BIO_s_mem()), &BIO_free);
  if (PEM_write_bio_X509(bio.get(), certificate.get()) != 1) return {};
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace orrery
