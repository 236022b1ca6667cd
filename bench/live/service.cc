#include "service.h"

#include <chrono>
#include <cstdio>

#include "trust/certificates.h"

namespace orrery {
namespace {

std::chrono::sys_seconds today() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

std::string trust_of(const std::string& state) { return state + "/trust"; }

TlsMaterial material(const Credentials& credentials) {
  return {.certificate = credentials.certificate_pem,
          .key = credentials.key_pem.reveal(),
          .authority = credentials.ca_pem};
}

}  // namespace

Result<std::unique_ptr<Service>> Service::start(const std::string& state,
                                                const std::string& policy) {
  TRY_ASSIGN(LocalTrust trust, load_or_make_local(trust_of(state), {}, today()));
  std::unique_ptr<Service> service(new Service(std::move(trust)));
  ServerOptions options{.state = state, .trust = &service->trust_};
  options.core.policy.name = policy;
  options.say = [](const std::string& line) { std::fprintf(stderr, "serve: %s\n", line.c_str()); };
  TRY_ASSIGN(service->server_, Server::start(std::move(options)));
  RpcServerOptions rpc{.tls = material(service->trust_.server)};
  rpc.access.identify = [&trust = service->trust_](const std::string& pem) -> Result<Caller> {
    TRY_ASSIGN(const Identity known, caller_of(trust.authority.certificate_pem(), pem, today()));
    return Caller{.role = static_cast<Caller::Role>(known.role), .name = known.name};
  };
  TRY_ASSIGN(service->rpc_, RpcServer::start(rpc, *service->server_, *service->server_));
  return service;
}

Status Service::stop() {
  rpc_->stop();
  return server_->stop();
}

Result<ClientOptions> admin_of(const std::string& state, const std::string& address) {
  TRY_ASSIGN(const Credentials admin, load_credentials(trust_of(state), "admin"));
  return ClientOptions{.address = address, .tls = material(admin)};
}

Result<ClientOptions> agent_of(const std::string& state, const std::string& address,
                               const std::string& name) {
  TRY_ASSIGN(ClientOptions options, admin_of(state, address));
  RpcClient admin(options);
  TRY_ASSIGN(const TokenAnswer token, admin.make_token({.name = name}));
  TRY_ASSIGN(const KeyAndRequest own, make_key_and_request());
  TRY_ASSIGN(const JoinAnswer joined,
             admin.join({.token = token.token, .name = name,
                         .certificate_request = own.request_pem}));
  options.tls = TlsMaterial{.certificate = joined.certificate,
                            .key = own.key_pem.reveal(),
                            .authority = joined.authority};
  return options;
}

}  // namespace orrery
