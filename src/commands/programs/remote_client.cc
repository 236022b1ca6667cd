#include "commands/programs/remote_client.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "base/state_folder.h"
#include "commands/programs/own_certificate.h"
#include "live/auth/certificates.h"
#include "live/auth/credentials.h"
#include "live/auth/tokens.h"
#include "live/rpc/client.h"
#include "live/rpc/https_client.h"
#include "live/rpc/seen_server.h"
#include "live/unix_socket/client.h"

namespace orrery {

Result<std::unique_ptr<Client>> connect_remote(const Endpoint& endpoint) {
  if (!endpoint.socket.empty()) {
    auto socket =
        std::make_unique<UnixSocketClient>(UnixSocketClientOptions{.path = endpoint.socket});
    if (socket->connect().ok()) return std::unique_ptr<Client>(std::move(socket));
  }
  TRY_ASSIGN(Credentials own, load_credentials(endpoint.credentials, endpoint.certificate));
  ClientOptions options{.address = endpoint.address,
                        .tls = tls_material(own),
                        .https_port = https_port_in(endpoint.credentials)};
  // The scheduler renews its owner's by itself. If renewal fails here, the call says why.
  if (endpoint.certificate != kOwnersCertificate) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto renewed = renew_if_due(endpoint.credentials, endpoint.certificate, own, now,
                                      [&](const TlsMaterial&, const JoinRequest& request) {
                                        return RpcClient(options).join(request);
                                      });
    if (renewed.ok()) options.tls = tls_material(own);
  }
  return std::unique_ptr<Client>(std::make_unique<RpcClient>(std::move(options)));
}

Status keep_https_port(const std::string& directory, int port) {
  TRY_ASSIGN(const Fd lock, lock_state_folder(directory));
  return write_file_atomically(directory + "/" + kHttpsPortFile, fmt::format("{}\n", port),
                               {.durable = true});
}

int https_port_in(const std::string& credentials) {
  const auto port = read_file(credentials + "/" + kHttpsPortFile);
  return port.ok() ? std::atoi(port.value().c_str()) : 0;
}

namespace {

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

// The HTTPS port at an address, with the authority that the token names.
Result<HttpsPlace> https_at(const std::string& address, const Secret& token) {
  TRY_ASSIGN(const SeenServer seen, look_at_server(address, {}));
  if (seen.grpc) {
    return Error{Code::FailedPrecondition,
                 address + " is the scheduler's gRPC port, where no one can join"};
  }
  TRY(check_authority(token, seen.authority));
  return HttpsPlace{.address = address, .tls = TlsMaterial{.authority = seen.authority}};
}

// By the port in the token; else by the one that was given, which may be the HTTPS port itself.
Result<HttpsPlace> find_https(const std::string& server, const Secret& token) {
  TRY_ASSIGN(const int port, https_port_of(token));
  const std::string named = fmt::format("{}:{}", host_of(server), port);
  if (port == 0 || named == server) return https_at(server, token);
  auto by_token = https_at(named, token);
  if (by_token.ok() || by_token.error().code != Code::Unavailable) return by_token;
  auto as_given = https_at(server, token);
  if (as_given.ok()) return as_given;
  return Error{Code::Unavailable,
               fmt::format("{}, the HTTPS port that the token names, does not answer, and {}; see "
                           "whether `orrery serve` runs and --rest listens on that host, or write "
                           "its HTTPS address after --server",
                           named, as_given.error().message)};
}

}  // namespace

Result<std::string> join_remote(const JoinOrder& order) {
  const Secret token(order.token);
  TRY_ASSIGN(const HttpsPlace place, find_https(order.server, token));
  TRY_ASSIGN(const KeyAndRequest made, make_key_and_request());
  TRY_ASSIGN(const JoinAnswer answer,
             join_over_https(place, {.token = token.reveal(),
                                     .name = order.name,
                                     .certificate_request = made.request_pem,
                                     .role = order.role}));
  TRY(save_credentials(order.credentials, order.certificate,
                       {.ca_pem = answer.authority,
                        .certificate_pem = answer.certificate,
                        .key_pem = made.key_pem}));
  const std::string https_port = place.address.substr(place.address.rfind(':') + 1);
  TRY(keep_https_port(order.credentials, std::atoi(https_port.c_str())));
  return fmt::format("{}:{}", host_of(order.server), answer.port);
}

}  // namespace orrery
