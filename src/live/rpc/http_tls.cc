#include "live/rpc/http_tls.h"

#include "base/files.h"
#include "live/rpc/openssl_handles.h"

namespace orrery {
namespace {

bool use_certificate(SSL_CTX& context, const std::string& pem) {
  const Openssl<BIO> bio = pem_reader(pem);
  const Openssl<X509> own = next_certificate(bio.get());
  if (own == nullptr || SSL_CTX_use_certificate(&context, own.get()) != 1) return false;
  while (const Openssl<X509> above = next_certificate(bio.get())) {
    if (SSL_CTX_add1_chain_cert(&context, above.get()) != 1) return false;
  }
  return true;
}

bool use_key(SSL_CTX& context, const std::string& pem) {
  const Openssl<EVP_PKEY> key = key_in(pem);
  return key != nullptr && SSL_CTX_use_PrivateKey(&context, key.get()) == 1 &&
         SSL_CTX_check_private_key(&context) == 1;
}

bool trust_authority(SSL_CTX& context, const std::string& pem) {
  const Openssl<BIO> bio = pem_reader(pem);
  int taken = 0;
  while (const Openssl<X509> authority = next_certificate(bio.get())) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get()) != 1) return false;
    if (SSL_CTX_add_client_CA(&context, authority.get()) != 1) return false;
    ++taken;
  }
  return taken > 0;
}

// The time is checked at each call, by the clock of `identify`. So a caller whose certificate has
// expired gets the reason in words, which a failed handshake cannot give.
int ignore_time(int good, X509_STORE_CTX* check) {
  const int why = X509_STORE_CTX_get_error(check);
  if (why != X509_V_ERR_CERT_HAS_EXPIRED && why != X509_V_ERR_CERT_NOT_YET_VALID) return good;
  X509_STORE_CTX_set_error(check, X509_V_OK);
  return 1;
}

// Called at each handshake. Where the files cannot be read the certificate of the start is shown.
int show_newest(SSL* connection, void* given) {
  const auto& files = *static_cast<const TlsFiles*>(given);
  const auto certificates = read_file(files.certificate);
  const auto key_pem = read_file(files.key);
  if (!certificates.ok() || !key_pem.ok()) return 1;
  const Openssl<BIO> bio = pem_reader(certificates.value());
  const Openssl<X509> own = next_certificate(bio.get());
  const Openssl<EVP_PKEY> key = key_in(key_pem.value());
  if (own == nullptr || key == nullptr || X509_check_private_key(own.get(), key.get()) != 1) {
    ERR_clear_error();
    return 1;
  }
  if (SSL_use_certificate(connection, own.get()) != 1 ||
      SSL_use_PrivateKey(connection, key.get()) != 1 || SSL_clear_chain_certs(connection) != 1) {
    return 0;
  }
  while (const Openssl<X509> above = next_certificate(bio.get())) {
    if (SSL_add1_chain_cert(connection, above.get()) != 1) return 0;
  }
  return 1;
}

}  // namespace

std::string pem_of(X509* certificate) {
  const Openssl<BIO> bio(BIO_new(BIO_s_mem()));
  if (certificate == nullptr || PEM_write_bio_X509(bio.get(), certificate) != 1) return {};
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

bool set_up_tls(SSL_CTX& context, const TlsMaterial& tls) {
  if (SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION) != 1) return false;
  // A resumed connection would come with the certificate of the one before, unchecked.
  SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(&context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(&context, 0);
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, ignore_time);
  return use_certificate(context, tls.certificate) && use_key(context, tls.key) &&
         trust_authority(context, tls.authority);
}

void show_newest_of(SSL_CTX& context, const TlsFiles& files) {
  SSL_CTX_set_cert_cb(&context, show_newest, const_cast<TlsFiles*>(&files));
}

bool fits_together(const TlsMaterial& tls) {
  const Openssl<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
  return context != nullptr && set_up_tls(*context, tls);
}

bool show_as_client(SSL_CTX& context, const TlsMaterial& tls) {
  return use_certificate(context, tls.certificate) && use_key(context, tls.key);
}

bool is_signed_by(const std::string& authority_pem, const std::string& certificate_pem) {
  const Openssl<X509> authority = first_certificate(authority_pem);
  const Openssl<X509> certificate = first_certificate(certificate_pem);
  const Openssl<X509_STORE> store(X509_STORE_new());
  const Openssl<X509_STORE_CTX> check(X509_STORE_CTX_new());
  if (authority == nullptr || certificate == nullptr ||
      X509_STORE_add_cert(store.get(), authority.get()) != 1 ||
      X509_STORE_CTX_init(check.get(), store.get(), certificate.get(), nullptr) != 1 ||
      X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_CLIENT) != 1) {
    ERR_clear_error();
    return false;
  }
  X509_STORE_CTX_set_flags(check.get(), X509_V_FLAG_NO_CHECK_TIME);
  const bool good = X509_verify_cert(check.get()) == 1;
  if (!good) ERR_clear_error();
  return good;
}

std::string client_certificate(const SSL* connection) {
  if (connection == nullptr) return {};
  return pem_of(Openssl<X509>(SSL_get1_peer_certificate(connection)).get());
}

}  // namespace orrery
