#pragma once

#include <memory>
#include <string>

#include "daemon/server.h"
#include "rpc/client.h"
#include "rpc/server.h"

namespace orrery {

// A scheduler as `orrery serve` has one: a state directory, its certificates, a port on loopback.
class Service {
 public:
  static Result<std::unique_ptr<Service>> start(const std::string& state,
                                                const std::string& policy);
  ~Service() { rpc_->stop(); }

  int port() const { return rpc_->port(); }
  Server& server() { return *server_; }
  Status stop();

 private:
  explicit Service(LocalTrust trust) : trust_(std::move(trust)) {}

  LocalTrust trust_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<RpcServer> rpc_;
};

// Connects as the administrator whose certificate is in the state directory.
Result<ClientOptions> admin_of(const std::string& state, const std::string& address);
// Gets a certificate for a node, by a token as agents do.
Result<ClientOptions> agent_of(const std::string& state, const std::string& address,
                               const std::string& name);

}  // namespace orrery
