#include "live/rpc/seen_server.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/files.h"
#include "live/rpc/http_tls.h"
#include "live/rpc/openssl_handles.h"

namespace orrery {
namespace {

// Of each step; a server that needs longer is as good as none.
constexpr timeval kStep{.tv_sec = 5, .tv_usec = 0};

struct SslFree {
  void operator()(SSL* connection) const { SSL_free(connection); }
};
using Connection = std::unique_ptr<SSL, SslFree>;

struct AddressesFree {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

Result<Fd> connect_to(const ListenAddress& place) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(place.port);
  if (getaddrinfo(place.host.c_str(), port.c_str(), &hints, &found) != 0) {
    return Error{Code::Unavailable, place.host + ": no machine of this name is known"};
  }
  const std::unique_ptr<addrinfo, AddressesFree> list(found);
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Fd fd(socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    // The first bounds connect() too.
    if (!fd.ok() || setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kStep, sizeof kStep) != 0 ||
        setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kStep, sizeof kStep) != 0) {
      continue;
    }
    if (connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0) return fd;
  }
  return Error{Code::Unavailable, "no connection"};
}

bool offer_http2(SSL_CTX& context) {
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  return SSL_CTX_set_alpn_protos(&context, kHttp2, sizeof kHttp2) == 0;
}

// A server that takes the caller sends its settings first. One that does not closes the connection.
bool is_closed(SSL* connection) {
  char byte = 0;
  const int got = SSL_read(connection, &byte, 1);
  if (got > 0) return false;
  const int why = SSL_get_error(connection, got);
  return why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE;
}

}  // namespace

Result<SeenServer> look_at_server(const std::string& address, const TlsMaterial& own) {
  const Error none{Code::Unavailable,
                   address + " does not answer as an Orrery scheduler; is the address right?"};
  TRY_ASSIGN(const ListenAddress place, read_listen_address(address, true));
  const Openssl<SSL_CTX> context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr || !offer_http2(*context)) {
    return Error{Code::Internal, "TLS cannot be set up"};
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  if (!own.certificate.empty() && !show_as_client(*context, own)) {
    return invalid("certificate and key do not fit together");
  }
  auto fd = connect_to(place);
  if (!fd.ok()) return none;
  const Connection connection(SSL_new(context.get()));
  if (connection == nullptr || SSL_set_fd(connection.get(), fd.value().get()) != 1) {
    return Error{Code::Internal, "TLS cannot be set up"};
  }
  if (SSL_connect(connection.get()) != 1) return none;
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(connection.get());
  if (chain == nullptr || sk_X509_num(chain) < 1) return none;
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(connection.get(), &chosen, &size);
  SeenServer seen{.certificate = pem_of(sk_X509_value(chain, 0)),
                  .authority = pem_of(sk_X509_value(chain, sk_X509_num(chain) - 1)),
                  .grpc = size > 0};
  seen.closed = seen.grpc && is_closed(connection.get());
  return seen;
}

}  // namespace orrery
