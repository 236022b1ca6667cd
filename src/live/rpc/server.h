#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "live/api/agent_link.h"
#include "live/api/api.h"
#include "live/rpc/access.h"

namespace orrery {

struct RpcServerOptions {
  std::string address = "127.0.0.1:0";  // port 0: any that is free
  std::optional<TlsMaterial> tls{};     // none: plain, on this machine only
  Access access{};
  std::size_t message_bytes_max = std::size_t{4} << 20;
  int calls_max = 10'000;  // at a time; agents' connections do not count
  int agents_max = 10'000;
};

// Longest wait of a call that waits for something new. Longer ones are cut to it.
inline constexpr Duration kWaitMax = std::chrono::seconds(30);

// Answers gRPC calls. No thread belongs to a call: each ends when the Api replies, on whatever
// thread, or when its caller goes away. The Api and the host must outlive stop(); after it neither
// is called again, and late replies go nowhere.
class RpcServer {
 public:
  static Result<std::unique_ptr<RpcServer>> start(const RpcServerOptions& options, Api& api,
                                                  AgentHost& host);
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  int port() const;
  // See AgentService. For all other callers each call is checked.
  void check_agents_again();
  void let_agents_reconnect();
  void stop();  // ends all calls; may be called twice

 private:
  struct Parts;
  explicit RpcServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace orrery
