#include "rpc/fetch_authority.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <memory>

namespace orrery {
namespace {

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};

Error unreachable(const std::string& address) {
  return {Code::Unavailable,
          address + " does not answer as an Orrery scheduler; is the address right?"};
}

std::string pem_of(X509* certificate) {
  const std::unique_ptr<BIO, Free> out(BIO_new(BIO_s_mem()));
  if (out == nullptr || PEM_write_bio_X509(out.get(), certificate) != 1) return "";
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

Result<std::string> fetch_authority(const std::string& address) {
  const std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return Error{Code::Internal, "TLS is not to be had"};
  // Who the server is is judged afterwards, by the fingerprint in the token.
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(context.get(), kHttp2, sizeof kHttp2);
  const std::unique_ptr<BIO, Free> connection(BIO_new_ssl_connect(context.get()));
  if (connection == nullptr) return Error{Code::Internal, "TLS is not to be had"};
  BIO_set_conn_hostname(connection.get(), address.c_str());
  if (BIO_do_connect_retry(connection.get(), 10, 100) <= 0) return unreachable(address);
  if (BIO_do_handshake(connection.get()) <= 0) return unreachable(address);
  SSL* tls = nullptr;
  BIO_get_ssl(connection.get(), &tls);
  STACK_OF(X509)* chain = tls == nullptr ? nullptr : SSL_get_peer_cert_chain(tls);
  if (chain == nullptr || sk_X509_num(chain) < 2) return unreachable(address);
  std::string pem = pem_of(sk_X509_value(chain, sk_X509_num(chain) - 1));
  if (pem.empty()) return unreachable(address);
  return pem;
}

}  // namespace orrery
