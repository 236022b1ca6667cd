#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/state_folder.h"
#include "live/api/agent_link.h"
#include "live/api/api.h"
#include "live/auth/credentials.h"
#include "live/daemon/rights/gatekeeper.h"
#include "live/rpc/rest.h"
#include "live/rpc/server.h"

namespace orrery {

struct ListenOptions {
  std::string state{};   // the scheduler's directory, with trust/ in it
  std::string listen{};  // HOST:PORT of gRPC; port 0: that of the last start, else any
  std::string rest{};  // HOST:PORT of HTTPS; empty: the host of `listen`; "off": for joining alone
  Passage passage = Passage::None;  // whether clients of other logins read the addresses
  // How long a port that a connection uses is waited for.
  std::chrono::milliseconds patience{10'000};
  Access access{};
  std::function<Result<std::string>(const Caller&)> metrics{};
  std::function<void(const std::string&)> say{};  // a line of the operator's log
};

// Writes a line to a file of the state folder from which clients learn where the scheduler is.
Status write_for_clients(const std::string& path, const std::string& line, Passage passage);

// The two TLS ports of a scheduler: gRPC, which demands a certificate in the handshake, and HTTPS
// for REST, metrics and those who join. A port that was not asked for stays the same over restarts,
// since agents and join tokens name it. Both show the certificate that is in trust/ now.
class Listeners {
 public:
  // The Api and the host must outlive stop().
  Status open(const ListenOptions& options, const Credentials& own, Api& api, AgentHost& host);
  void stop();

  GatekeeperOptions::Ports ports() const { return {.grpc = grpc_port_, .https = https_port_}; }
  const std::string& address() const { return address_; }  // of gRPC, for clients on this machine
  RpcServer& rpc() { return *rpc_; }

 private:
  Status open_grpc(const ListenOptions& options, const TlsMaterial& tls, Api& api, AgentHost& host);
  Status open_https(const ListenOptions& options, const TlsMaterial& tls, Api& api);

  std::unique_ptr<RpcServer> rpc_;
  std::unique_ptr<RestServer> rest_;
  std::atomic<int> grpc_port_{0};
  std::atomic<int> https_port_{0};
  std::string address_;
};

}  // namespace orrery
