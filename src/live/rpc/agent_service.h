#pragma once

#include <orrery/v1/agent.grpc.pb.h>

#include <memory>

#include "live/api/agent_link.h"
#include "live/rpc/access.h"

namespace orrery {

class AgentStreams;

// Agents' connections: reports go to the host, its orders go out.
class AgentService final : public v1::Agents::CallbackService {
 public:
  AgentService(AgentHost& host, Gate& gate);

  grpc::ServerBidiReactor<v1::Report, v1::Orders>* Attend(
      grpc::CallbackServerContext* context) override;

  // Ends the connections whose certificate has expired or was revoked since they were made.
  void check_again();
  // Ends all; agents connect again at once.
  void let_reconnect();

 private:
  AgentHost& host_;
  Gate& gate_;
  const std::shared_ptr<AgentStreams> streams_;
};

// Empty when the caller showed none.
std::string peer_certificate(const grpc::CallbackServerContext& context);

}  // namespace orrery
