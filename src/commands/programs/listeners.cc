#include "commands/programs/listeners.h"

#include <fmt/format.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "base/files.h"
#include "commands/programs/port_use.h"
#include "commands/programs/remote_client.h"
#include "live/client/connection.h"

namespace orrery {
namespace {

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

// As others on this machine reach it.
std::string reachable(const std::string& host) {
  return host == "0.0.0.0" || host == "[::]" ? "127.0.0.1" : host;
}

int port_of(const std::string& address) {
  return std::atoi(address.c_str() + address.rfind(':') + 1);
}

// Starts a server by `start` on HOST:PORT. While the scheduler was away an outgoing connection may
// have got its port, and often gives it back soon.
template <class Start>
auto start_patiently(const std::string& address, const ListenOptions& options, const Start& start)
    -> decltype(start(address)) {
  constexpr std::chrono::milliseconds kApart{50};
  const auto end = std::chrono::steady_clock::now() + options.patience;
  for (bool is_first = true;; is_first = false) {
    auto started = start(address);
    if (started.ok() || port_of(address) == 0 || port_use(address) != PortUse::Connection) {
      return started;
    }
    if (is_first) {
      options.say(
          fmt::format("{}: a connection of this machine uses the port; waits for it", address));
    }
    if (std::chrono::steady_clock::now() >= end) {
      Error error = std::move(started).error();
      error.message += "; a connection of this machine uses the port";
      if (is_given_to_connections(port_of(address))) {
        error.message +=
            ", which is one of those that the kernel gives to outgoing connections: choose one "
            "outside net.ipv4.ip_local_port_range";
      }
      return error;
    }
    std::this_thread::sleep_for(kApart);
  }
}

// For port 0 the one in the file is tried first.
template <class Start>
auto start_on(const std::string& address, const std::string& remembered,
              const ListenOptions& options, const Start& start) -> decltype(start(address)) {
  if (address.ends_with(":0")) {
    if (const auto last = read_file(remembered); last.ok()) {
      const std::string before =
          host_of(address) + ":" + last.value().substr(0, last.value().find('\n'));
      auto again = start_patiently(before, options, start);
      if (again.ok()) return again;
      options.say(
          fmt::format("the port of the last start cannot be used, so agents and tokens that name "
                      "it will not find this scheduler: {}",
                      again.error().message));
    }
  }
  return start_patiently(address, options, start);
}

}  // namespace

Status write_for_clients(const std::string& path, const std::string& line, Passage passage) {
  return write_file_atomically(path, line + "\n",
                               {.mode = passage == Passage::Others ? 0644U : 0600U});
}

Status Listeners::open(const ListenOptions& options, const Credentials& own, Api& api,
                       AgentHost& host) {
  const std::string trust = options.state + "/trust";
  const TlsMaterial tls{
      // With the authority's, so that a joiner can check it against its token.
      .certificate = own.certificate_pem + own.ca_pem,
      .key = own.key_pem.reveal(),
      .authority = own.ca_pem,
      .files = TlsFiles{.certificate = trust + "/server_chain.pem", .key = trust + "/server.key"}};
  TRY(open_grpc(options, tls, api, host));
  return open_https(options, tls, api);
}

Status Listeners::open_grpc(const ListenOptions& options, const TlsMaterial& tls, Api& api,
                            AgentHost& host) {
  const std::string remembered = options.state + "/port";
  TRY_ASSIGN(rpc_, start_on(options.listen, remembered, options, [&](const auto& address) {
               return RpcServer::start({.address = address, .tls = tls, .access = options.access},
                                       api, host);
             }));
  grpc_port_ = rpc_->port();
  address_ = fmt::format("{}:{}", reachable(host_of(options.listen)), rpc_->port());
  return write_file_atomically(remembered, fmt::format("{}\n", rpc_->port()));
}

Status Listeners::open_https(const ListenOptions& options, const TlsMaterial& tls, Api& api) {
  const bool off = options.rest == "off";
  const std::string address =
      options.rest.empty() || off ? host_of(options.listen) + ":0" : options.rest;
  const std::string remembered = options.state + "/trust/" + kHttpsPortFile;
  RestOptions rest{.access = options.access, .metrics = options.metrics, .join_only = off};
  rest.http.tls = tls;
  TRY_ASSIGN(rest_, start_on(address, remembered, options, [&](const auto& one) {
               rest.http.address = one;
               return RestServer::start(rest, api);
             }));
  https_port_ = rest_->port();
  TRY(keep_https_port(options.state + "/trust", rest_->port()));
  options.say(fmt::format("{} on https://{}:{}",
                          off ? "`orrery join`" : "`orrery join`, REST and metrics",
                          host_of(address), rest_->port()));
  return write_for_clients(options.state + "/rest",
                           fmt::format("{}:{}", reachable(host_of(address)), rest_->port()),
                           options.passage);
}

void Listeners::stop() {
  if (rest_ != nullptr) rest_->stop();
  if (rpc_ != nullptr) rpc_->stop();
}

}  // namespace orrery
