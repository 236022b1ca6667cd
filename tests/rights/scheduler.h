#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/test_folder.h"
#include "commands/programs/callers.h"
#include "live/api/client.h"
#include "live/auth/calls.h"
#include "live/daemon/server/server.h"
#include "live/rpc/rest.h"
#include "live/rpc/server.h"
#include "live/unix_socket/server.h"

namespace orrery {

// A scheduler in this process with its three transports and real certificates. It has no nodes, so
// every job waits.
class TestScheduler {
 public:
  TestScheduler();
  ~TestScheduler();

  // A client with this identity. The socket cannot have several logins in one process: the identity
  // is set before each connection.
  std::unique_ptr<Client> by_socket(const Identity& caller);
  std::unique_ptr<Client> by_grpc(const Identity& caller);

  struct HttpReply {
    int status = 0;
    std::string body{};
  };
  HttpReply by_rest(const Identity& caller, const std::string& method, const std::string& path,
                    const std::string& body);

  // The orders that a node of this name gets, or the error that ends the connection.
  Result<Orders> attend(const Identity& caller, const std::string& node);

  // A job that waits.
  JobNumber submit(const JobRequest& request);
  SchedulerServer& server() { return *server_; }

 private:
  // A folder with the caller's certificate.
  std::string credentials_of(const Identity& caller);

  const TestFolder folder_;
  std::unique_ptr<Callers> callers_;
  GatekeeperOptions::Ports ports_;
  std::unique_ptr<LocalTrust> trust_;
  std::unique_ptr<SchedulerServer> server_;
  std::unique_ptr<RpcServer> rpc_;
  std::unique_ptr<RestServer> rest_;
  std::unique_ptr<UnixSocketServer> unix_socket_;
  std::mutex mutex_;
  Caller at_socket_;
};

inline const Identity kAdmin{Role::Admin, "root"};

Caller caller_for(const Identity& identity);

}  // namespace orrery
